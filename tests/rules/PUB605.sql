-- # the divisor is a constant
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders WHERE (id / 100 > 1) WITH (publish = 'insert');
