-- # a virtual generated column (18)
CREATE TABLE orders (id bigint PRIMARY KEY, twice bigint GENERATED ALWAYS AS (id * 2) VIRTUAL);
CREATE PUBLICATION shop FOR TABLE orders (id, twice); -- 42P10
--                                            ^^^^^ PUB404

-- # an identity column is no generated column
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders (id);
