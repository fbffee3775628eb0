-- # a tool with a key
-- +goose Up
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR ALL TABLES;
