-- # an operator that the type does not have
CREATE TABLE orders (id bigint PRIMARY KEY, paid boolean);
CREATE PUBLICATION eu FOR TABLE orders WHERE (paid + 1 > 0); -- 42883
--                                                 ^ PUB203

-- # a function with too many arguments
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (abs(id, 2) > 0); -- 42883
--                                            ^^^ PUB203
