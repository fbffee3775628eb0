-- # a table of one's own in another schema
CREATE SCHEMA information;
CREATE TABLE information.facts (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLES IN SCHEMA information;
