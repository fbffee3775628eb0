-- # the same rows in other words
CREATE TABLE orders (id bigint PRIMARY KEY, total integer NOT NULL);
CREATE PUBLICATION a FOR TABLE orders WHERE (total > 10) WITH (publish = 'insert');
--                                           ^^^^^ PUB609
CREATE PUBLICATION b FOR TABLE orders WHERE (NOT (total <= 10)) WITH (publish = 'insert');
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION a, b WITH (connect = false);

-- # an operation that only the narrower publication has
CREATE TABLE orders (id bigint PRIMARY KEY, total integer NOT NULL);
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE PUBLICATION a FOR TABLE orders WHERE (total > 10);
CREATE PUBLICATION b FOR TABLE orders WHERE (total > 1) WITH (publish = 'insert');
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION a, b WITH (connect = false);

-- # no subscription is known to take both
CREATE TABLE orders (id bigint PRIMARY KEY, total integer NOT NULL);
CREATE PUBLICATION a FOR TABLE orders WHERE (total > 10) WITH (publish = 'insert');
CREATE PUBLICATION b FOR TABLE orders WHERE (total > 1) WITH (publish = 'insert');
