-- # created again with all it had
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
DROP PUBLICATION shop;
CREATE PUBLICATION shop FOR TABLE orders;
