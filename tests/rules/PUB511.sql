-- # a partition that is FULL under a root without a key
CREATE TABLE orders (id bigint, day date) PARTITION BY RANGE (day);
--           ^^^^^^ PUB511
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
ALTER TABLE orders_1 REPLICA IDENTITY FULL;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true);

-- # a root with a key, and a partition that is FULL
CREATE TABLE orders (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
ALTER TABLE orders_1 REPLICA IDENTITY FULL;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true);

-- # partitions are published under their own names
CREATE TABLE orders (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE PUBLICATION shop FOR TABLE orders;

-- # only inserts are published
CREATE TABLE orders (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true, publish = 'insert');
