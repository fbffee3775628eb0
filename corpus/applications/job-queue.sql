CREATE TYPE job_state AS ENUM ('ready', 'running', 'done', 'failed');
CREATE TABLE jobs (id bigserial PRIMARY KEY, kind text NOT NULL, payload jsonb NOT NULL DEFAULT '{}', state job_state NOT NULL DEFAULT 'ready', attempts int NOT NULL DEFAULT 0, worker text);
CREATE INDEX ON jobs (state, id);
CREATE PUBLICATION jobs FOR TABLE jobs;
ALTER TABLE jobs REPLICA IDENTITY FULL;
-- script
INSERT INTO jobs (kind, payload) SELECT 'mail', jsonb_build_object('n', n) FROM generate_series(1, 5) n;
BEGIN;
UPDATE jobs SET state = 'running', worker = 'w1', attempts = attempts + 1 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
-- session: b
BEGIN;
UPDATE jobs SET state = 'running', worker = 'w2', attempts = attempts + 1 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id, payload;
-- session: a
COMMIT;
-- session: b
COMMIT;
UPDATE jobs SET state = 'done' WHERE id = 2;
-- session: a
UPDATE jobs SET state = 'failed' WHERE id = 1;
WITH next AS (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 2) UPDATE jobs SET state = 'running' FROM next WHERE jobs.id = next.id;
DELETE FROM jobs WHERE state = 'done';
