-- # the same filter twice
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION big FOR TABLE orders WHERE (id > 1000);
CREATE PUBLICATION large FOR TABLE orders WHERE (id > 1000);
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION big, large WITH (connect = false);
