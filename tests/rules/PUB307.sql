-- # a deferrable primary key (19)
CREATE TABLE orders (id bigint PRIMARY KEY DEFERRABLE);
REPACK (CONCURRENTLY) orders; -- 0A000
--                    ^^^^^^ PUB307

-- # partitioned and unlogged tables (19)
CREATE TABLE orders (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
REPACK (CONCURRENTLY) orders; -- 0A000
--                    ^^^^^^ PUB307
CREATE UNLOGGED TABLE carts (id bigint PRIMARY KEY);
REPACK (CONCURRENTLY) carts; -- 55000
--                    ^^^^^ PUB307

-- # a unique index counts only as the replica identity (19)
CREATE TABLE orders (id bigint NOT NULL, CONSTRAINT orders_id UNIQUE (id));
REPACK (CONCURRENTLY) orders; -- 55000
--                    ^^^^^^ PUB307
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_id;
REPACK (CONCURRENTLY) orders;
