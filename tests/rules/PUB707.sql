-- # without a column list all columns are published
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER TABLE orders ADD COLUMN currency text;
