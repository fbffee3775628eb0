-- postgres: 18
CREATE TABLE prices (item int4range, valid daterange, price numeric, PRIMARY KEY (item, valid WITHOUT OVERLAPS));
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO prices VALUES ('[1,2)', '[2024-01-01,2024-02-01)', 10), ('[2,3)', '[2024-01-01,2024-02-01)', 10);
INSERT INTO prices VALUES ('[1,2)', '[2024-01-31,2024-03-01)', 11);
INSERT INTO prices VALUES ('[1,2)', '[2024-02-01,2024-03-01)', 11);
INSERT INTO prices VALUES ('[1,2)', 'empty', 11);
UPDATE prices SET valid = '[2024-01-01,2024-01-15)' WHERE item = '[1,2)' AND price = 10;
UPDATE prices SET valid = '[2024-01-01,2024-02-15)' WHERE item = '[1,2)' AND price = 10;
DELETE FROM prices WHERE price = 11;
