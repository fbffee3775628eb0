-- # a quoted name of a system column
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders (id, "tableoid"); -- 42P10
--                                            ^^^^^^^^^^ PUB402
