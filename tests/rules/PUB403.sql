-- # ID without quotes is id
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders ("id", ID); -- 42710
--                                              ^^ PUB403
