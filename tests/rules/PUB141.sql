-- # a transaction that the end of the file leaves open
CREATE TABLE t (id int);
START TRANSACTION;
--^^^^^^^^^^^^^^^ PUB141
ALTER TABLE t REPLICA IDENTITY FULL;

-- # a transaction that is committed
BEGIN;
CREATE PUBLICATION shop;
END;

-- # a transaction that is rolled back
BEGIN;
CREATE PUBLICATION shop;
ROLLBACK;

-- # a second transaction
BEGIN;
CREATE PUBLICATION shop;
COMMIT AND CHAIN;
ALTER PUBLICATION shop SET (publish = 'insert');
COMMIT;

-- # a transaction that changes nothing about publications
CREATE PUBLICATION shop;
BEGIN;
CREATE TABLE u (id int);
