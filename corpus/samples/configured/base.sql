CREATE TABLE regions (name text);
CREATE PUBLICATION regions FOR TABLE regions;
