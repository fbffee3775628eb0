-- # a schema that is not published
CREATE SCHEMA sales;
CREATE PUBLICATION shop;
ALTER PUBLICATION shop DROP TABLES IN SCHEMA sales; -- 42704
--                                           ^^^^^ PUB131

-- # dropped twice
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER PUBLICATION shop DROP TABLE orders;
ALTER PUBLICATION shop DROP TABLE orders; -- 42704
--                                ^^^^^^ PUB131
