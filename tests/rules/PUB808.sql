-- # published (18)
CREATE TABLE orders (id bigint PRIMARY KEY, twice bigint GENERATED ALWAYS AS (id * 2) STORED);
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_generated_columns = stored);
