-- # inserts are published as well
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert, update');
