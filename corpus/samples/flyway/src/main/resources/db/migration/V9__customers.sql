CREATE TABLE customers (id bigint PRIMARY KEY, region text NOT NULL);
ALTER PUBLICATION eu ADD TABLE customers WHERE (region = 'eu');
