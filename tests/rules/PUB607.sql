-- # BETWEEN with its bounds in the wrong order
CREATE TABLE orders (id bigint PRIMARY KEY, total integer NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (total BETWEEN 100 AND 1) WITH (publish = 'insert');
--                                              ^^^^^ PUB607

-- # a constant that the type cannot hold
CREATE TABLE orders (id bigint PRIMARY KEY, total smallint NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (total > 40000) WITH (publish = 'insert');
--                                              ^^^^^ PUB607

-- # outside the bounds of a partition
CREATE TABLE orders (id bigint, year integer NOT NULL) PARTITION BY RANGE (year);
CREATE TABLE orders_2024 PARTITION OF orders FOR VALUES FROM (2024) TO (2025);
CREATE PUBLICATION shop FOR TABLE orders_2024 WHERE (year = 2025) WITH (publish = 'insert');
--                                                   ^^^^ PUB607

-- # a CHECK constraint that old rows need not meet does not count
CREATE TABLE orders (id bigint PRIMARY KEY, total integer NOT NULL);
ALTER TABLE orders ADD CHECK (total > 0) NOT VALID;
CREATE PUBLICATION shop FOR TABLE orders WHERE (total < 0) WITH (publish = 'insert');

-- # a function whose results are not followed
CREATE TABLE orders (id bigint PRIMARY KEY, state text NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (md5(state) = 'x') WITH (publish = 'insert');
