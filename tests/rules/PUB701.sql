-- # a column that no publication names
CREATE TABLE orders (id bigint PRIMARY KEY, region text, total numeric);
CREATE PUBLICATION shop FOR TABLE orders (id, region);
ALTER TABLE orders DROP COLUMN total;

-- # the second of two columns
CREATE TABLE orders (id bigint PRIMARY KEY, region text, total numeric);
CREATE PUBLICATION shop FOR TABLE orders (id, region);
ALTER TABLE orders DROP COLUMN total, DROP COLUMN region; -- 2BP01
--                                                ^^^^^^ PUB701
