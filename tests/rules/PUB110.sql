-- # a table of pg_temp
CREATE TABLE pg_temp.carts (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE carts; -- 22023
--                                ^^^^^ PUB110

-- # ONLY leaves an unlogged child out
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE UNLOGGED TABLE drafts () INHERITS (orders);
CREATE PUBLICATION shop FOR TABLE ONLY orders;
