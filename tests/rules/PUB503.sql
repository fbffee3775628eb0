-- # after the filter is gone
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE PUBLICATION shop FOR TABLE orders WHERE (id > 5) WITH (publish_via_partition_root = true);
ALTER PUBLICATION shop SET TABLE orders;
ALTER PUBLICATION shop SET (publish_via_partition_root = false);
