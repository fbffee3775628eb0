-- # two publications list the older tables
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION one FOR TABLE users, orders;
CREATE PUBLICATION two FOR TABLE items;
CREATE TABLE invoices (id bigint PRIMARY KEY);
--           ^^^^^^^^ PUB818
-- # an older table is left out as well
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION one FOR TABLE users, orders;
CREATE TABLE invoices (id bigint PRIMARY KEY);
-- # two tables are not a habit
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE PUBLICATION one FOR TABLE users, orders;
CREATE TABLE invoices (id bigint PRIMARY KEY);
-- # a schema takes the new table in
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION one FOR TABLES IN SCHEMA public;
CREATE TABLE invoices (id bigint PRIMARY KEY);
-- # a table of another schema, an unlogged one, a partition and one of a migration tool
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE TABLE days (day date NOT NULL PRIMARY KEY) PARTITION BY RANGE (day);
CREATE PUBLICATION one FOR TABLE users, orders, items, days;
CREATE SCHEMA internal;
CREATE TABLE internal.jobs (id bigint PRIMARY KEY);
CREATE UNLOGGED TABLE cache (id bigint PRIMARY KEY);
CREATE TABLE days_2026 PARTITION OF days FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE schema_migrations (version text PRIMARY KEY);
-- # a member that is added last counts as older
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE orders (id bigint PRIMARY KEY);
CREATE TABLE items (id bigint PRIMARY KEY);
CREATE PUBLICATION one FOR TABLE users, orders;
CREATE TABLE invoices (id bigint PRIMARY KEY);
ALTER PUBLICATION one ADD TABLE items;
