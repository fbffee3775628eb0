CREATE TABLE schedules (id int PRIMARY KEY, every interval NOT NULL, next_run timestamp NOT NULL, runs int NOT NULL DEFAULT 0);
CREATE TABLE runs (id bigserial PRIMARY KEY, schedule int NOT NULL REFERENCES schedules, at timestamp NOT NULL);
CREATE PUBLICATION p FOR ALL TABLES;
INSERT INTO schedules VALUES (1, '1 hour', '2024-01-01 00:00'), (2, '1 day', '2024-01-01 12:00'), (3, '5 minutes', '2024-01-02');
-- script
WITH due AS (SELECT id, next_run FROM schedules WHERE next_run < '2024-01-01 18:00' ORDER BY next_run FOR UPDATE SKIP LOCKED), logged AS (INSERT INTO runs (schedule, at) SELECT id, next_run FROM due RETURNING schedule) UPDATE schedules s SET next_run = s.next_run + s.every, runs = runs + 1 WHERE s.id IN (SELECT schedule FROM logged);
UPDATE schedules SET next_run = date_trunc('day', next_run) + interval '1 month' WHERE every >= interval '1 day';
DELETE FROM runs r WHERE r.id < (SELECT max(id) FROM runs WHERE schedule = r.schedule);
