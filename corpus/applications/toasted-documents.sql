CREATE TABLE papers (id int PRIMARY KEY, title text NOT NULL, body text, meta jsonb);
CREATE PUBLICATION p FOR TABLE papers;
-- script
INSERT INTO papers SELECT 1, 'long', string_agg(md5(n::text), '' ORDER BY n), NULL FROM generate_series(1, 200) n;
UPDATE papers SET title = 'longer' WHERE id = 1;
UPDATE papers SET body = coalesce(body, '');
UPDATE papers SET body = body || '';
UPDATE papers SET body = replace(body, 'x', 'y');
UPDATE papers SET body = body::varchar;
UPDATE papers SET body = (ARRAY[body])[1];
UPDATE papers SET body = CASE WHEN id = 1 THEN body END;
UPDATE papers SET body = trim(body);
UPDATE papers SET body = body || 'end' WHERE id = 1;
ALTER TABLE papers REPLICA IDENTITY FULL;
UPDATE papers SET title = 'full' WHERE id = 1;
UPDATE papers SET meta = '{"pages": 3}', body = substr(body, 1, 20) WHERE id = 1;
DELETE FROM papers;
