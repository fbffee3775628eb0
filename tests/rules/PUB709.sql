-- # all members are named again
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER PUBLICATION shop SET TABLE items, orders;
