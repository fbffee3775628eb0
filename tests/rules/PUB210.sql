-- # a function of another schema
CREATE SCHEMA app;
CREATE FUNCTION app.one() RETURNS bigint IMMUTABLE LANGUAGE sql AS 'SELECT 1::bigint';
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id > app.one()); -- 0A000
--                                                 ^^^^^^^^^ PUB210
