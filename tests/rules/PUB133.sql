-- # SET TABLE
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES;
ALTER PUBLICATION shop SET TABLE orders; -- 55000
--                               ^^^^^^ PUB133

-- # options may change
CREATE PUBLICATION shop FOR ALL TABLES;
ALTER PUBLICATION shop SET (publish = 'insert');
