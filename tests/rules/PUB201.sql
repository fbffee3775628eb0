-- # a column that is dropped
CREATE TABLE orders (id bigint PRIMARY KEY, region text);
ALTER TABLE orders DROP COLUMN region;
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu'); -- 42703
--                                            ^^^^^^ PUB201

-- # a name in capitals without quotes
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (ID > 5);
