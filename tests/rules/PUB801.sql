-- # nothing is left out
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
