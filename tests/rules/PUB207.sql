-- # a cast to text of a number
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id::text = '1'); -- 0A000
--                                            ^^^^^^^^ PUB207

-- # IN over plain text needs no cast
CREATE TABLE orders (id text PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id IN ('a', 'b'));
