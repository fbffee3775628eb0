-- # the second of two tables has a column list
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders, items;
ALTER PUBLICATION shop DROP TABLE orders, items (id); -- 42601
--                                        ^^^^^ PUB132
