-- # both are left out (19)
CREATE TABLE orders (id bigint, region text) PARTITION BY LIST (region);
CREATE TABLE orders_eu (id bigint, region text);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE orders, orders_eu);
ALTER TABLE orders ATTACH PARTITION orders_eu FOR VALUES IN ('eu'); -- 55000
--                                  ^^^^^^^^^ PUB714

-- # INHERIT is free (19)
CREATE TABLE orders (id bigint);
CREATE TABLE old_orders (id bigint);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE old_orders);
ALTER TABLE old_orders INHERIT orders;
