-- # via the root
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE PUBLICATION shop FOR TABLE orders (id) WITH (publish_via_partition_root = true);
