-- # inserts need no identity
CREATE TABLE orders (id bigint PRIMARY KEY, total numeric);
CREATE PUBLICATION shop FOR TABLE orders (total) WITH (publish = 'insert');
UPDATE orders SET total = 1;

-- # an index that is the identity
CREATE TABLE orders (id bigint PRIMARY KEY, number text NOT NULL UNIQUE);
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_number_key;
CREATE PUBLICATION shop FOR TABLE orders (id);
--                                        ^^ PUB406
DELETE FROM orders; -- 42P10
