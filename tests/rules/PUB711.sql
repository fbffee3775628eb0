-- # another identity is chosen afterwards
CREATE PUBLICATION shop;
CREATE TABLE orders (id bigint PRIMARY KEY, number text NOT NULL UNIQUE);
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_number_key;
ALTER TABLE orders DROP CONSTRAINT orders_number_key;
ALTER TABLE orders REPLICA IDENTITY DEFAULT;
