-- # yesterday is read once
CREATE TABLE orders (id date PRIMARY KEY);
CREATE PUBLICATION recent FOR TABLE orders WHERE (id >= 'yesterday') WITH (publish = 'insert');
--                                                      ^^^^^^^^^^^ PUB214

-- # an ISO date
CREATE TABLE orders (id date PRIMARY KEY);
CREATE PUBLICATION recent FOR TABLE orders WHERE (id >= '2024-02-03') WITH (publish = 'insert');
