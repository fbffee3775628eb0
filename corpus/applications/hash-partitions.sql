CREATE TABLE metrics (device int NOT NULL, at timestamp NOT NULL, value float8, PRIMARY KEY (device, at)) PARTITION BY HASH (device);
CREATE TABLE metrics_0 PARTITION OF metrics FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE metrics_1 PARTITION OF metrics FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE PUBLICATION root FOR TABLE metrics WITH (publish_via_partition_root = true);
-- script
INSERT INTO metrics SELECT d, '2024-01-01'::timestamp + d * interval '1 minute', d / 2.0 FROM generate_series(1, 6) d;
INSERT INTO metrics VALUES (1, '2024-01-01 00:01', 99) ON CONFLICT (device, at) DO UPDATE SET value = excluded.value;
UPDATE metrics SET device = 100 + device WHERE device = 3;
UPDATE metrics SET value = NULL WHERE device IN (1, 2);
DELETE FROM metrics WHERE device = 2;
COPY metrics FROM STDIN WITH CSV;
7,2024-02-01 10:00:00,1.5
8,2024-02-01 10:00:00,NaN
\.
TRUNCATE metrics_0;
