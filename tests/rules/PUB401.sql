-- # SET TABLE
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop;
ALTER PUBLICATION shop SET TABLE orders (id, total); -- 42703
--                                           ^^^^^ PUB401
