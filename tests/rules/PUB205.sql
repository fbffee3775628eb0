-- # a number out of range
CREATE TABLE orders (id smallint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id = '99999'); -- 22003
--                                                 ^^^^^^^ PUB205

-- # a uuid
CREATE TABLE orders (id uuid PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id = 'x'); -- 22P02
--                                                 ^^^ PUB205
