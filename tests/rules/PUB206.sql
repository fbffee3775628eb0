-- # an aggregate
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (max(id) = 1); -- 42803
--                                            ^^^ PUB206
