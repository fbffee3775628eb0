-- # a filter goes with a schema
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders WHERE (id > 5), TABLES IN SCHEMA public;
