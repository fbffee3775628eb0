CREATE TABLE nodes (id int PRIMARY KEY, parent int REFERENCES nodes ON DELETE CASCADE, name text, path text);
CREATE PUBLICATION p FOR TABLE nodes;
-- script
INSERT INTO nodes VALUES (1, NULL, 'root'), (2, 1, 'a'), (3, 1, 'c'), (4, 2, 'b');
UPDATE nodes x SET path = (WITH RECURSIVE up AS (SELECT id, parent, name, 1 AS depth FROM nodes WHERE id = x.id UNION ALL SELECT n.id, n.parent, n.name, up.depth + 1 FROM up JOIN nodes n ON n.id = up.parent) SELECT string_agg(name, '/' ORDER BY depth DESC) FROM up);
INSERT INTO nodes (id, name) WITH RECURSIVE k (n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM k WHERE n < 14) SELECT n, 'k' || n FROM k;
DELETE FROM nodes WHERE id IN (WITH RECURSIVE t AS (SELECT 2 AS id UNION SELECT n.id FROM nodes n JOIN t ON n.parent = t.id) SELECT id FROM t);
DELETE FROM nodes WHERE id = 1;
