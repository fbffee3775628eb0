-- # the publication has the new child as well
CREATE TABLE logs (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES;
CREATE TABLE logs_web (PRIMARY KEY (id)) INHERITS (logs);
