-- # a partition of an excluded table (19)
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM (0) TO (10);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE orders);
--                                                   ^^^^^^ PUB512
CREATE PUBLICATION parts FOR TABLE orders_1;

-- # both leave it out (19)
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE orders);
CREATE PUBLICATION other FOR ALL TABLES EXCEPT (TABLE orders);
