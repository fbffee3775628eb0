-- # only inserts are published
CREATE TABLE orders (id bigint, state text, PRIMARY KEY (id, state)) PARTITION BY LIST (state);
CREATE TABLE orders_open PARTITION OF orders FOR VALUES IN ('open');
CREATE TABLE orders_done PARTITION OF orders FOR VALUES IN ('done');
CREATE PUBLICATION shop FOR TABLE orders WITH (publish = 'insert');
