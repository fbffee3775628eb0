-- Deploy shop:identity to pg
-- requires: publication

BEGIN;

ALTER TABLE orders REPLICA IDENTITY FULL;

COMMIT;
