-- # OR REPLACE
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE OR REPLACE PUBLICATION shop FOR TABLE orders; -- 42601
--                ^^^^^^^^^^^ PUB101

-- # ADD TABLE without a name
CREATE PUBLICATION shop;
ALTER PUBLICATION shop ADD TABLE; -- 42601
--                             ^ PUB101

-- # a column list for a schema
CREATE SCHEMA sales;
CREATE PUBLICATION shop FOR TABLES IN SCHEMA sales (id); -- 42601
--                                                 ^ PUB101
