-- # the referring table is published too
CREATE TABLE customers (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint REFERENCES customers);
CREATE PUBLICATION shop FOR TABLE customers, orders;

-- # a table that refers to itself
CREATE TABLE parts (id bigint PRIMARY KEY, part_of bigint REFERENCES parts);
CREATE PUBLICATION shop FOR TABLE parts;
