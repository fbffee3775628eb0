CREATE TABLE days (day date PRIMARY KEY, weekday int NOT NULL, open boolean NOT NULL DEFAULT true);
CREATE TABLE holidays (day date PRIMARY KEY, name text);
CREATE PUBLICATION p FOR TABLE days;
INSERT INTO holidays VALUES ('2024-01-01', 'New Year'), ('2024-01-06', 'Epiphany');
-- script
INSERT INTO days (day, weekday) SELECT d::date, extract(isodow FROM d) FROM generate_series('2024-01-01'::timestamp, '2024-01-10', '1 day') d;
UPDATE days SET open = false WHERE weekday >= 6;
UPDATE days SET open = false FROM holidays h WHERE h.day = days.day AND open;
UPDATE days SET open = CASE WHEN day IN (SELECT day FROM holidays) THEN false ELSE open END WHERE day BETWEEN '2024-01-05' AND '2024-01-07';
DELETE FROM days WHERE day < date_trunc('month', DATE '2024-01-15')::date + 2;
