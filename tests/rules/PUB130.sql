-- # ONLY names the same table
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
ALTER PUBLICATION shop ADD TABLE ONLY orders; -- 42710
--                                    ^^^^^^ PUB130

-- # a table of a published schema may be added
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLES IN SCHEMA public;
ALTER PUBLICATION shop ADD TABLE orders;
