-- # a name without quotes is folded when it is created
CREATE PUBLICATION Shop;
-- # a subscription of PostgreSQL writes the quotes
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION "Shop" FOR TABLE orders;
CREATE SUBSCRIPTION s CONNECTION 'host=publisher dbname=shop' PUBLICATION "Shop" WITH (connect = false);
-- # the folded name is another publication
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
CREATE PUBLICATION "SHOP" FOR TABLE orders;
--                 ^^^^^^ PUB814
-- # it is renamed in the end
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION "Shop" FOR TABLE orders;
ALTER PUBLICATION "Shop" RENAME TO shop;
