-- # a foreign table
CREATE FOREIGN DATA WRAPPER fdw;
CREATE SERVER other FOREIGN DATA WRAPPER fdw;
CREATE FOREIGN TABLE orders (id bigint) SERVER other;
CREATE PUBLICATION shop FOR TABLE orders; -- 22023
--                                ^^^^^^ PUB108

-- # a partitioned table is a table
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE PUBLICATION shop FOR TABLE orders;
