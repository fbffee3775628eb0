CREATE TABLE users (id serial PRIMARY KEY, full_name text NOT NULL);
CREATE PUBLICATION p FOR TABLE users;
INSERT INTO users (full_name) VALUES ('Ann Lee'), ('Bob Roe');
-- script
BEGIN;
ALTER TABLE users ADD COLUMN first_name text, ADD COLUMN last_name text;
UPDATE users SET first_name = split_part(full_name, ' ', 1), last_name = split_part(full_name, ' ', 2);
ALTER TABLE users ALTER COLUMN first_name SET NOT NULL;
COMMIT;
INSERT INTO users (full_name, first_name, last_name) VALUES ('Cid', 'Cid', '');
ALTER TABLE users DROP COLUMN full_name;
INSERT INTO users (first_name) VALUES ('Dan');
ALTER TABLE users ADD COLUMN active boolean NOT NULL DEFAULT true;
CREATE INDEX CONCURRENTLY users_last ON users (last_name);
UPDATE users SET active = false WHERE last_name IS NULL OR last_name = '';
ALTER TABLE users ALTER COLUMN id TYPE bigint;
INSERT INTO users (first_name) VALUES ('Eve');
ALTER TABLE users RENAME COLUMN first_name TO given_name;
UPDATE users SET given_name = 'Eva' WHERE given_name = 'Eve';
