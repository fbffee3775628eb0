-- # every type is known
CREATE TABLE shops (id int PRIMARY KEY, place point);
CREATE PUBLICATION shops FOR TABLE shops WHERE (place IS NOT NULL) WITH (publish = 'insert');
