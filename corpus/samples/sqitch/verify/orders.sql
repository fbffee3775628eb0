BEGIN;
SELECT id, region, total FROM orders WHERE false;
ROLLBACK;
