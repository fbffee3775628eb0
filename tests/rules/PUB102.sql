-- # a list that begins with a name
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop;
ALTER PUBLICATION shop ADD orders; -- 42601
--                         ^^^^^^ PUB102
