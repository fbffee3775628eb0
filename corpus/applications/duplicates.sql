CREATE TABLE readings (id int PRIMARY KEY, sensor text NOT NULL, at timestamp NOT NULL, value float8);
CREATE PUBLICATION p FOR TABLE readings;
INSERT INTO readings SELECT n, 's' || n % 3, '2024-01-01'::timestamp + (n / 6) * interval '1 hour', n / 4.0 FROM generate_series(1, 18) n;
-- script
DELETE FROM readings WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY sensor, at ORDER BY id) AS n FROM readings) ranked WHERE n > 1);
DELETE FROM readings a USING readings b WHERE a.sensor = b.sensor AND a.id > b.id AND a.value = b.value;
DELETE FROM readings WHERE id NOT IN (SELECT max(id) FROM readings GROUP BY sensor);
