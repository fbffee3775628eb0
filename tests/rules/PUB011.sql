-- # a comment for a file ignores nothing
-- pubcheck: ignore-file[PUB106]
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ PUB011
CREATE PUBLICATION shop;

-- # one code of two ignores nothing
CREATE TABLE orders (id bigint PRIMARY KEY, region text);
-- pubcheck: ignore[PUB301,PUB302] nobody updates orders
--                         ^^^^^^ PUB011
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
