-- # the kinds that EXCEPT refuses (19)
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE VIEW open_orders AS SELECT id FROM orders;
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE orders, open_orders); -- 22023
--                                                           ^^^^^^^^^^^ PUB115

-- # a temporary table hides a permanent one (19)
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TEMP TABLE orders (id bigint);
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE orders); -- 22023
--                                                   ^^^^^^ PUB115
CREATE PUBLICATION shop FOR ALL TABLES EXCEPT (TABLE public.orders);

-- # SET ALL TABLES (19)
CREATE SEQUENCE numbers;
CREATE PUBLICATION shop FOR ALL TABLES;
ALTER PUBLICATION shop SET ALL TABLES EXCEPT (TABLE numbers); -- 22023
--                                                  ^^^^^^^ PUB115
