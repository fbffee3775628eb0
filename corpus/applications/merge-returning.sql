-- postgres: 17
CREATE TABLE flags (name text PRIMARY KEY, enabled boolean NOT NULL DEFAULT false, rollout int NOT NULL DEFAULT 0);
CREATE TABLE flag_log (k serial PRIMARY KEY, action text, name text, rollout int);
CREATE TABLE staged (id int PRIMARY KEY, total int);
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO flags VALUES ('a', true, 10), ('b', false, 0), ('c', true, 100);
-- script
WITH changed AS (MERGE INTO flags f USING (VALUES ('a', 50), ('d', 5)) v (name, rollout) ON f.name = v.name
WHEN MATCHED THEN UPDATE SET rollout = v.rollout
WHEN NOT MATCHED THEN INSERT (name, rollout) VALUES (v.name, v.rollout)
RETURNING merge_action() AS action, f.name, f.rollout - v.rollout AS rest)
INSERT INTO flag_log (action, name, rollout) SELECT action, name, rest FROM changed;
WITH changed AS (MERGE INTO flags f USING (VALUES ('b', 1)) v (name, rollout) ON f.name = v.name
WHEN MATCHED THEN DELETE RETURNING *)
INSERT INTO flag_log (action, name, rollout) SELECT column1, column2, column3 FROM (SELECT * FROM changed) c (column1, x, column2, y, column3);
MERGE INTO flags f USING (VALUES ('a', 1), ('c', 2)) v (name, rollout) ON f.name = v.name
WHEN NOT MATCHED BY SOURCE THEN DELETE RETURNING merge_action(), f.name, v.name;
MERGE INTO flags f USING (VALUES ('c', 7)) v (name, rollout) ON f.name = v.name
WHEN MATCHED THEN UPDATE SET rollout = v.rollout
WHEN NOT MATCHED BY SOURCE AND f.rollout > 1000 THEN DELETE
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET enabled = NOT f.enabled
RETURNING merge_action();
MERGE INTO flags f USING (VALUES ('z', 7)) v (name, rollout) ON f.name = v.name
WHEN NOT MATCHED BY TARGET THEN INSERT (name, rollout) VALUES (v.name, v.rollout)
WHEN NOT MATCHED BY SOURCE AND f.name = 'zz' THEN DELETE;
INSERT INTO staged VALUES (1, 1), (2, 2);
MERGE INTO staged s USING (SELECT 1 AS id) v ON s.id = v.id WHEN MATCHED THEN UPDATE SET total = s.total + 1 WHEN NOT MATCHED BY SOURCE THEN DELETE;
SELECT merge_action();
