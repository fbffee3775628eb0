-- # a constant
CREATE TABLE orders (id bigint PRIMARY KEY, state text NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (true) WITH (publish = 'insert');
--                                ^^^^^^ PUB608

-- # the bounds of a partition say the same
CREATE TABLE orders (id bigint, year integer NOT NULL) PARTITION BY RANGE (year);
CREATE TABLE orders_2024 PARTITION OF orders FOR VALUES FROM (2024) TO (2025);
CREATE PUBLICATION shop FOR TABLE orders_2024 WHERE (year = 2024) WITH (publish = 'insert');
--                                                   ^^^^ PUB608

-- # NULL is left out
CREATE TABLE orders (id bigint PRIMARY KEY, total integer CHECK (total > 0));
CREATE PUBLICATION shop FOR TABLE orders WHERE (total > 0) WITH (publish = 'insert');
