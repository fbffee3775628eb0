-- # a foreign partition
CREATE FOREIGN DATA WRAPPER fdw;
CREATE SERVER other FOREIGN DATA WRAPPER fdw;
CREATE TABLE hits (id bigint, day date) PARTITION BY RANGE (day);
CREATE FOREIGN TABLE hits_old PARTITION OF hits FOR VALUES FROM ('2024-01-01') TO ('2025-01-01') SERVER other;
--                   ^^^^^^^^ PUB506
CREATE PUBLICATION shop FOR TABLE hits WITH (publish = 'insert');
