-- # a schema that is not in search_path
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders; -- 42P01
--                                ^^^^^^ PUB107

-- # created only after the publication
CREATE PUBLICATION shop FOR TABLE orders; -- 42P01
--                                ^^^^^^ PUB107
CREATE TABLE orders (id bigint PRIMARY KEY);
