-- # an index of a partitioned table
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE PUBLICATION shop FOR TABLE orders_pkey; -- 42809
--                                ^^^^^^^^^^^ PUB109
