-- # the same columns in another order
CREATE TABLE orders (id bigint PRIMARY KEY, total numeric);
CREATE PUBLICATION one FOR TABLE orders (id, total);
CREATE PUBLICATION two FOR TABLE orders (total, id);
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION one, two WITH (connect = false);
