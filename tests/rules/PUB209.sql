-- # random() is volatile
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (random() > 0.5); -- 0A000
--                                            ^^^^^^^^ PUB209

-- # date_trunc of a timestamp is immutable
CREATE TABLE orders (id timestamp PRIMARY KEY);
CREATE PUBLICATION eu FOR TABLE orders WHERE (date_trunc('day', id) > '2024-01-01');
