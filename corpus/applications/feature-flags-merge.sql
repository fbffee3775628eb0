-- postgres: 17
CREATE TABLE flags (name text PRIMARY KEY, enabled boolean NOT NULL DEFAULT false, rollout int NOT NULL DEFAULT 0);
CREATE PUBLICATION p FOR TABLE flags;
INSERT INTO flags VALUES ('a', true, 10), ('b', false, 0), ('c', true, 100);
-- script
MERGE INTO flags f USING (VALUES ('a', 50), ('d', 5)) v (name, rollout) ON f.name = v.name
WHEN MATCHED THEN UPDATE SET rollout = v.rollout
WHEN NOT MATCHED THEN INSERT (name, rollout) VALUES (v.name, v.rollout)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET enabled = false
RETURNING merge_action(), f.name;
