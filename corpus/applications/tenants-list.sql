CREATE TABLE invoices (tenant text NOT NULL, id int NOT NULL, total numeric(10,2), PRIMARY KEY (tenant, id)) PARTITION BY LIST (tenant);
CREATE TABLE invoices_eu PARTITION OF invoices FOR VALUES IN ('de', 'fr');
CREATE TABLE invoices_us PARTITION OF invoices FOR VALUES IN ('us');
CREATE TABLE invoices_rest PARTITION OF invoices DEFAULT;
CREATE PUBLICATION eu FOR TABLE invoices_eu WHERE (total > 10);
ALTER TABLE invoices_eu REPLICA IDENTITY FULL;
CREATE PUBLICATION everything FOR TABLE invoices;
-- script
INSERT INTO invoices VALUES ('de', 1, 5), ('us', 1, 50), ('jp', 1, 500);
INSERT INTO invoices VALUES ('de', 1, 25) ON CONFLICT (tenant, id) DO UPDATE SET total = invoices.total + excluded.total RETURNING total;
UPDATE invoices SET tenant = 'fr' WHERE tenant = 'us';
UPDATE invoices SET total = total * 2 WHERE tenant IN ('de', 'jp');
MERGE INTO invoices i USING (VALUES ('fr', 1, 1.00), ('us', 9, 2.00)) v (tenant, id, total) ON i.tenant = v.tenant AND i.id = v.id WHEN MATCHED THEN UPDATE SET total = v.total WHEN NOT MATCHED THEN INSERT VALUES (v.tenant, v.id, v.total);
DELETE FROM invoices WHERE tenant = 'de';
