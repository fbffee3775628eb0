-- # a number
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id); -- 42804
--                                            ^^ PUB204

-- # an unknown literal is read as a boolean
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE ('yes');
