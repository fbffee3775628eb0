-- # changed later
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders WITH (publish = '');
ALTER PUBLICATION shop SET (publish = 'insert');

-- # ALTER PUBLICATION
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders;
--                 ^^^^ PUB802
ALTER PUBLICATION shop SET (publish = '');
