CREATE TABLE ledger (id int PRIMARY KEY, amount int);
CREATE PUBLICATION p FOR TABLE ledger;
-- script
BEGIN;
INSERT INTO ledger VALUES (1, 10);
PREPARE TRANSACTION 'transfer-1';
INSERT INTO ledger VALUES (2, 20);
COMMIT PREPARED 'transfer-1';
BEGIN;
UPDATE ledger SET amount = 0 WHERE id = 1;
PREPARE TRANSACTION 'transfer-2';
UPDATE ledger SET amount = 5 WHERE id = 2;
ROLLBACK PREPARED 'transfer-2';
