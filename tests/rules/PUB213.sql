-- # a collation of pg_catalog
CREATE TABLE orders (id text PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id > 'b' COLLATE "C");
