-- # ALTER PUBLICATION
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE PUBLICATION shop;
ALTER PUBLICATION shop ADD TABLE orders WHERE (id > 5); -- 22023
--                               ^^^^^^ PUB501
