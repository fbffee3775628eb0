CREATE TABLE flags (name text PRIMARY KEY, enabled boolean NOT NULL DEFAULT false, rollout int NOT NULL DEFAULT 0, users int[] NOT NULL DEFAULT '{}');
CREATE PUBLICATION enabled FOR TABLE flags WHERE (enabled);
ALTER TABLE flags REPLICA IDENTITY FULL;
-- script
INSERT INTO flags VALUES ('a', true, 10), ('b', false, 0), ('c', true, 100);
UPDATE flags SET enabled = NOT enabled WHERE name IN ('a', 'b');
UPDATE flags SET rollout = least(100, rollout + 25), users = users || 7;
UPDATE flags SET users = array_remove(users, 7) WHERE 7 = ANY (users) AND rollout > 50;
DELETE FROM flags WHERE NOT enabled;
