CREATE TABLE tasks (id int PRIMARY KEY, priority int NOT NULL, taken_by text);
CREATE TABLE log (id serial PRIMARY KEY, task_id int, note text);
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO tasks SELECT n, 10 - n FROM generate_series(1, 6) n;
-- script
BEGIN;
SELECT id FROM tasks WHERE taken_by IS NULL ORDER BY priority, id LIMIT 2 FOR UPDATE SKIP LOCKED;
-- session: b
BEGIN;
SELECT id FROM tasks WHERE taken_by IS NULL ORDER BY priority, id LIMIT 2 FOR NO KEY UPDATE SKIP LOCKED;
-- session: a
UPDATE tasks SET taken_by = 'a' WHERE id IN (6, 5);
INSERT INTO log (task_id, note) VALUES (6, 'taken'), (5, 'taken');
-- session: b
UPDATE tasks SET taken_by = 'b' WHERE id IN (4, 3);
COMMIT;
-- session: a
SELECT id FROM tasks WHERE id = 4 FOR UPDATE NOWAIT;
COMMIT;
-- session: b
BEGIN;
SELECT 1 FROM tasks WHERE id = 1 FOR UPDATE;
-- session: a
SELECT 1 FROM tasks WHERE id = 1 FOR UPDATE NOWAIT;
DELETE FROM tasks WHERE id = (SELECT id FROM tasks WHERE taken_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id;
-- session: b
ROLLBACK;
