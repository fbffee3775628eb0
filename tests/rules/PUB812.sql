-- # one publication has the root and the partition
CREATE TABLE orders (id bigint, day date) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE PUBLICATION whole FOR TABLE orders, orders_2025 WITH (publish = 'insert', publish_via_partition_root = true);
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION whole WITH (connect = false);
