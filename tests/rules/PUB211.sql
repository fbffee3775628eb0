-- # OPERATOR() with its schema
CREATE TABLE orders (id int PRIMARY KEY);
CREATE OPERATOR public.### (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int);
CREATE PUBLICATION eu FOR TABLE orders WHERE (id OPERATOR(public.###) 1); -- 0A000
--                                            ^^^^^^^^^^^^^^^^^^^^^^^^^ PUB211
