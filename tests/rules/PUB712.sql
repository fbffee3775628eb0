-- # a column
CREATE TABLE orders (id bigint PRIMARY KEY, total numeric);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER TABLE orders RENAME COLUMN total TO amount;
--          ^^^^^^ PUB712

-- # renamed back
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER TABLE orders RENAME TO purchases;
ALTER TABLE purchases RENAME TO orders;
