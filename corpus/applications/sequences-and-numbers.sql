CREATE SEQUENCE invoice_number START 1000 INCREMENT 10;
CREATE TABLE invoices (id int PRIMARY KEY DEFAULT nextval('invoice_number'), code text GENERATED ALWAYS AS ('INV-' || lpad(id::text, 6, '0')) STORED, year int);
CREATE FUNCTION invoice_label() RETURNS text LANGUAGE sql AS $$ SELECT 'L' || to_char(nextval('invoice_number'), 'FM00000') $$;
CREATE TABLE labels (id serial, label text DEFAULT invoice_label());
CREATE PUBLICATION p FOR ALL TABLES;
-- script
CREATE FUNCTION pad(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lpad(n::text, 6, '0') $$;
INSERT INTO invoices (year) VALUES (2023), (2024) RETURNING id;
SELECT setval('invoice_number', 5000);
INSERT INTO invoices (year) VALUES (2024);
ALTER SEQUENCE invoice_number RESTART WITH 70;
INSERT INTO invoices (year) SELECT y FROM generate_series(2000, 2002) y;
INSERT INTO labels DEFAULT VALUES;
INSERT INTO labels (label) VALUES (DEFAULT), ('own'), (pad(7));
SELECT setval('invoice_number', (SELECT max(id) FROM invoices));
INSERT INTO invoices (id, year) VALUES (nextval('invoice_number'), 2025);
