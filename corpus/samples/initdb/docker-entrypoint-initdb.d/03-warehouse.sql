-- Another database: its table of that name has another key.
\connect warehouse
CREATE TABLE orders (id bigint, region text, PRIMARY KEY (id, region));
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
