-- # search_path names a schema
CREATE SCHEMA sales;
SET search_path = sales;
CREATE PUBLICATION shop FOR TABLES IN SCHEMA CURRENT_SCHEMA;
