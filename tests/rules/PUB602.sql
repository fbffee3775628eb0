-- # no column is long enough for TOAST
CREATE TABLE orders (id bigint, region "char", PRIMARY KEY (id, region));
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'e');
