-- # without updates nothing changes its kind
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION big FOR TABLE orders WHERE (id > 1000) WITH (publish = 'delete');
