CREATE TABLE users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), login text NOT NULL UNIQUE);
CREATE TABLE sessions (token text PRIMARY KEY, user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE, expires_at timestamptz NOT NULL, data jsonb);
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO users (id, login) VALUES ('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'ann');
INSERT INTO sessions SELECT md5('x' || login), id, now() + interval '1 day', '{"ip": "::1"}' FROM users WHERE login = 'ann';
UPDATE sessions SET expires_at = CURRENT_TIMESTAMP + interval '1 hour' * 2 WHERE token = md5('xann');
DELETE FROM sessions WHERE expires_at < now();
INSERT INTO sessions VALUES ('old', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', '2020-01-01', NULL);
DELETE FROM sessions WHERE expires_at < now() - interval '30 days';
INSERT INTO users (login) VALUES ('bob');
DELETE FROM users WHERE login = 'ann';
