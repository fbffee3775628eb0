-- # a column that no publication names
CREATE TABLE orders (id bigint PRIMARY KEY, total numeric);
CREATE PUBLICATION shop FOR TABLE orders (id);
ALTER TABLE orders DROP COLUMN total CASCADE;
