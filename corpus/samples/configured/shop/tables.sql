CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL);
