-- # an index of another table
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
ALTER TABLE orders REPLICA IDENTITY USING INDEX items_pkey; -- 42809
--                                              ^^^^^^^^^^ PUB305

-- # an index over an expression
CREATE TABLE orders (id bigint NOT NULL);
CREATE UNIQUE INDEX orders_half ON orders ((id / 2));
ALTER TABLE orders REPLICA IDENTITY USING INDEX orders_half; -- 0A000
--                                              ^^^^^^^^^^^ PUB305
