-- # IS DISTINCT FROM is never NULL
CREATE TABLE orders (id bigint PRIMARY KEY, state text);
CREATE PUBLICATION shop FOR TABLE orders WHERE (state IS DISTINCT FROM 'draft') WITH (publish = 'insert');

-- # a column that may not be NULL
CREATE TABLE orders (id bigint PRIMARY KEY, state text NOT NULL);
CREATE PUBLICATION shop FOR TABLE orders WHERE (state <> 'draft') WITH (publish = 'insert');
