CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
