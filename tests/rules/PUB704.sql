-- # a table that no publication has (18)
CREATE TABLE orders (id bigint PRIMARY KEY, twice bigint GENERATED ALWAYS AS (id * 2) VIRTUAL);
ALTER TABLE orders ALTER COLUMN twice SET EXPRESSION AS (id * 3);
