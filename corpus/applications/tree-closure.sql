CREATE TABLE nodes (id int PRIMARY KEY, parent int REFERENCES nodes ON DELETE CASCADE, name text, path text);
CREATE PUBLICATION p FOR TABLE nodes;
-- script
INSERT INTO nodes VALUES (1, NULL, 'root'), (2, 1, 'a'), (3, 2, 'b'), (4, 1, 'c');
WITH RECURSIVE t AS (SELECT id, name AS path FROM nodes WHERE parent IS NULL UNION ALL SELECT n.id, t.path || '/' || n.name FROM nodes n JOIN t ON n.parent = t.id) UPDATE nodes SET path = t.path FROM t WHERE t.id = nodes.id;
INSERT INTO nodes (id, name) WITH RECURSIVE k (n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM k WHERE n < 14) SELECT n, 'k' || n FROM k;
DELETE FROM nodes WHERE id = 2;
DELETE FROM nodes WHERE id = 1;
