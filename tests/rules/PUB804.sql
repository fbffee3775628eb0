-- # a table is added later
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop;
ALTER PUBLICATION shop ADD TABLE orders;
