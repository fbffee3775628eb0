-- # both ends of a foreign key are published
CREATE TABLE customers (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY, customer bigint REFERENCES customers);
CREATE PUBLICATION shop FOR TABLE orders, customers;
