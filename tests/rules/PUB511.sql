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
-- # the identity of the partition has other columns than that of the root
CREATE TABLE orders (id bigint, code int NOT NULL, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
--           ^^^^^^ PUB511
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE UNIQUE INDEX orders_code ON orders (code, day);
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_code;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true);
-- # the identity of the partition has all columns of the root's, and more
CREATE TABLE orders (id bigint NOT NULL, day date NOT NULL, PRIMARY KEY (day)) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE UNIQUE INDEX more ON orders_2025 (day, id);
ALTER TABLE orders_2025 REPLICA IDENTITY USING INDEX more;
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true);
-- # the partition has the columns in another order
CREATE TABLE orders (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 (day date NOT NULL, id bigint NOT NULL);
ALTER TABLE orders ATTACH PARTITION orders_2025 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_via_partition_root = true);
-- # without via root the partition is published under its own name
CREATE TABLE orders (id bigint, code int NOT NULL, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE UNIQUE INDEX orders_code ON orders (code, day);
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_code;
CREATE PUBLICATION shop FOR TABLE orders;
