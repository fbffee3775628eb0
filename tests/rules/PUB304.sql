-- # the partition's filter reads its key only
CREATE TABLE orders (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE orders_2025 PARTITION OF orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE PUBLICATION eu FOR TABLE orders_2025 WHERE (id > 5);
UPDATE orders SET id = 1;
