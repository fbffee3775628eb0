-- # both publish generated columns (18)
CREATE TABLE orders (id bigint PRIMARY KEY, twice bigint GENERATED ALWAYS AS (id * 2) STORED);
CREATE PUBLICATION one FOR TABLE orders WITH (publish_generated_columns = stored);
CREATE PUBLICATION two FOR TABLE orders WITH (publish_generated_columns = stored);
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION one, two WITH (connect = false);
