-- # xmin
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (xmin IS NOT NULL); -- 0A000
--                                            ^^^^ PUB208
