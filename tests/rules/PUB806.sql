-- # every table is published
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES;
