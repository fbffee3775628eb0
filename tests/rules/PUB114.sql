-- # a table twice without a filter is published once
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders, orders;

-- # two column lists
CREATE TABLE orders (id bigint PRIMARY KEY, total numeric);
CREATE PUBLICATION shop FOR TABLE orders (id), orders (id, total); -- 42710
--                                             ^^^^^^ PUB114
