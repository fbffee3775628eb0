-- Deploy shop:publication to pg
-- requires: orders

BEGIN;

CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');

COMMIT;
