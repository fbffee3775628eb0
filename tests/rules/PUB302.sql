-- # NOTHING
CREATE TABLE orders (id bigint PRIMARY KEY);
ALTER TABLE orders REPLICA IDENTITY NOTHING;
CREATE PUBLICATION shop FOR TABLE orders;
--                                ^^^^^^ PUB302
DELETE FROM orders; -- 55000

-- # a deferrable key is no identity
CREATE TABLE orders (id bigint PRIMARY KEY DEFERRABLE);
CREATE PUBLICATION shop FOR TABLE orders;
--                                ^^^^^^ PUB302
UPDATE orders SET id = 1; -- 55000

-- # only inserts
CREATE TABLE orders (id bigint);
CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert');
UPDATE orders SET id = 1;
