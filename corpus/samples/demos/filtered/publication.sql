CREATE PUBLICATION demo FOR TABLE orders WHERE (region = 'eu');
