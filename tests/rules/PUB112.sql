-- # a schema of toast tables
CREATE PUBLICATION shop FOR TABLES IN SCHEMA pg_toast; -- 22023
--                                           ^^^^^^^^ PUB112
