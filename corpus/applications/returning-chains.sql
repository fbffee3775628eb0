CREATE TABLE parents (id serial PRIMARY KEY, name text);
CREATE TABLE children (id serial PRIMARY KEY, parent_id int REFERENCES parents, name text);
CREATE TABLE archive (id int, name text, kind text);
CREATE PUBLICATION p FOR ALL TABLES;
-- script
WITH p AS (INSERT INTO parents (name) VALUES ('x') RETURNING id) INSERT INTO children (parent_id, name) SELECT p.id, c FROM p, unnest(ARRAY['a', 'b', 'c']) c;
WITH p AS (INSERT INTO parents (name) VALUES ('y'), ('z') RETURNING id, name), c AS (INSERT INTO children (parent_id, name) SELECT id, name || '1' FROM p RETURNING id, parent_id) SELECT count(*) FROM c;
WITH gone AS (DELETE FROM children WHERE name IN ('a', 'b') RETURNING id, name) INSERT INTO archive SELECT id, name, 'child' FROM gone;
WITH u AS (UPDATE parents SET name = upper(name) RETURNING *), a AS (INSERT INTO archive SELECT id, name, 'parent' FROM u WHERE name = 'X' RETURNING *) SELECT * FROM a;
INSERT INTO archive (id, name) SELECT id, name FROM parents WHERE NOT EXISTS (SELECT 1 FROM children WHERE parent_id = parents.id AND name LIKE 'zz%') AND id = 1;
