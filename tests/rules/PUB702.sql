-- # the type stays the same
CREATE TABLE orders (id bigint PRIMARY KEY, region varchar(2));
CREATE PUBLICATION eu FOR TABLE orders (id);
ALTER TABLE orders ALTER COLUMN region TYPE varchar(10);
