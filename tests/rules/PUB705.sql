-- # added to the publication again
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
DROP TABLE orders;
CREATE TABLE orders (id bigint PRIMARY KEY);
ALTER PUBLICATION shop ADD TABLE orders;
