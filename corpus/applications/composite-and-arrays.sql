CREATE TYPE address AS (street text, city text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE people (id int PRIMARY KEY, home address, phones text[] NOT NULL DEFAULT '{}', age positive, period daterange);
CREATE PUBLICATION p FOR TABLE people;
-- script
INSERT INTO people VALUES (1, ROW('Main 1', 'Rome'), '{}', 30, '[2024-01-01,2024-02-01)'), (2, '("Via, 2",Milan)', ARRAY['1', '2'], 20, NULL);
UPDATE people SET phones = array_append(phones, '555') WHERE id = 1;
UPDATE people SET phones = phones || '777'::text, age = age + 1;
UPDATE people SET phones[1] = '999' WHERE id = 2;
UPDATE people SET home.city = 'Turin' WHERE id = 1;
UPDATE people SET phones = array_remove(phones, '777') WHERE '777' = ANY (phones);
UPDATE people SET age = 0 WHERE id = 1;
UPDATE people SET period = daterange('2024-05-01', NULL) WHERE (home).city = 'Milan';
