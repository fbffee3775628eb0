-- # without the root's option the partition's filter is used
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (1) TO (9);
CREATE PUBLICATION shop FOR TABLE orders, orders_1 WHERE (id > 5);
