-- # a generated column that is published (18)
CREATE TABLE orders (id bigint, code bigint GENERATED ALWAYS AS (id * 2) STORED PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE orders WITH (publish_generated_columns = stored);
UPDATE orders SET id = 1;
