CREATE TABLE stock (sku text PRIMARY KEY, quantity int NOT NULL, note text);
CREATE TABLE deliveries (sku text PRIMARY KEY, quantity int NOT NULL);
CREATE PUBLICATION p FOR TABLE stock;
INSERT INTO stock VALUES ('a', 5, NULL), ('b', 1, NULL), ('c', 3, 'keep');
INSERT INTO deliveries VALUES ('a', 2), ('b', -1), ('d', 9);
-- script
MERGE INTO stock s USING deliveries d ON s.sku = d.sku
WHEN MATCHED AND s.quantity + d.quantity <= 0 THEN DELETE
WHEN MATCHED THEN UPDATE SET quantity = s.quantity + d.quantity
WHEN NOT MATCHED AND d.quantity > 0 THEN INSERT (sku, quantity) VALUES (d.sku, d.quantity)
WHEN NOT MATCHED THEN DO NOTHING;
MERGE INTO stock USING (SELECT 'c' AS sku, 4 AS quantity) d ON stock.sku = d.sku WHEN MATCHED THEN UPDATE SET note = 'merged ' || d.quantity, quantity = DEFAULT;
MERGE INTO stock USING (SELECT 'c' AS sku, 4 AS quantity) d ON stock.sku = d.sku WHEN MATCHED THEN UPDATE SET note = 'merged ' || d.quantity;
