-- # a table of a published schema
CREATE TABLE carts (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLES IN SCHEMA public;
ALTER TABLE carts SET UNLOGGED;
