-- # a table of pg_catalog with its schema
CREATE PUBLICATION shop FOR TABLE pg_catalog.pg_type; -- 22023
--                                ^^^^^^^^^^^^^^^^^^ PUB111
