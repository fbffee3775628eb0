-- # a dollar quote is never closed, and reading goes on at the next line that begins a statement
CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1;
--^^^^ PUB005
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders; -- 42601
