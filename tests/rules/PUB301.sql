-- # an index that is unique but not chosen
CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL UNIQUE);
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
--                                            ^^^^^^ PUB301
DELETE FROM orders; -- 42P10

-- # a second publication without a filter does not help
CREATE TABLE orders (id bigint PRIMARY KEY, region text);
CREATE PUBLICATION every FOR TABLE orders;
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
--                                            ^^^^^^ PUB301
UPDATE orders SET region = 'us'; -- 42P10

-- # a filter without columns
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (1 = 1);
UPDATE orders SET id = 1;
