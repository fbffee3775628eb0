CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
ALTER PUBLICATION regions SET (publish = 'insert');
