CREATE TABLE accounts (id int PRIMARY KEY, balance numeric(12,2) NOT NULL CHECK (balance >= 0));
CREATE TABLE outbox (id bigserial PRIMARY KEY, aggregate text NOT NULL, event text NOT NULL, payload jsonb NOT NULL);
CREATE PUBLICATION outbox FOR TABLE outbox WITH (publish = 'insert');
INSERT INTO accounts VALUES (1, 100), (2, 50);
-- script
BEGIN;
UPDATE accounts SET balance = balance - 30 WHERE id = 1;
UPDATE accounts SET balance = balance + 30 WHERE id = 2;
INSERT INTO outbox (aggregate, event, payload) VALUES ('account:1', 'transferred', jsonb_build_object('to', 2, 'amount', 30.00));
DELETE FROM outbox WHERE id = currval('outbox_id_seq');
COMMIT;
BEGIN;
UPDATE accounts SET balance = balance - 300 WHERE id = 1;
COMMIT;
SELECT pg_logical_emit_message(true, 'outbox', '{"event": "closed"}');
WITH moved AS (UPDATE accounts SET balance = balance + 1 WHERE balance > 60 RETURNING id, balance) INSERT INTO outbox (aggregate, event, payload) SELECT 'account:' || id, 'interest', jsonb_build_object('balance', balance) FROM moved;
