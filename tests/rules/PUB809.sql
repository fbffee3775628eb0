-- # not published
CREATE TABLE orders (id bigint PRIMARY KEY, note text);
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE PUBLICATION shop;
