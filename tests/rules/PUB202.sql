-- # the child's own name is right for the child
CREATE TABLE orders (id bigint PRIMARY KEY, region text);
CREATE TABLE web_orders () INHERITS (orders);
CREATE PUBLICATION eu FOR TABLE web_orders WHERE (web_orders.region = 'eu');

-- # ONLY leaves the child out
CREATE TABLE orders (id bigint PRIMARY KEY, region text);
CREATE TABLE web_orders () INHERITS (orders);
CREATE PUBLICATION eu FOR TABLE ONLY orders WHERE (orders.id = 1);
