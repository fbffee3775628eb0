CREATE INDEX orders_region ON orders (region);
