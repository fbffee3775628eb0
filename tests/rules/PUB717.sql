-- # the old name comes back as another table (19)
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO (10);
CREATE PUBLICATION shop FOR TABLE orders_1;
ALTER TABLE orders SPLIT PARTITION orders_1 INTO (PARTITION orders_1 FOR VALUES FROM (0) TO (5), PARTITION orders_2 FOR VALUES FROM (5) TO (10));
--^^^ PUB717

-- # the root is published too (19)
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO (10);
CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM (10) TO (20);
CREATE PUBLICATION shop FOR TABLE orders_1, orders;
ALTER TABLE orders MERGE PARTITIONS (orders_1, orders_2) INTO orders_old;

-- # added again (19)
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO (10);
CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM (10) TO (20);
CREATE PUBLICATION shop FOR TABLE orders_1, orders_2;
ALTER TABLE orders MERGE PARTITIONS (orders_1, orders_2) INTO orders_old;
ALTER PUBLICATION shop ADD TABLE orders_old;
