-- # DETACH
CREATE TABLE orders (id bigint, day date) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert', publish_via_partition_root = true);
ALTER TABLE orders DETACH PARTITION orders_2025;
--                                  ^^^^^^^^^^^ PUB708
