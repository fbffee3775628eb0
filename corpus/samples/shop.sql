-- A shop that feeds a warehouse, a partner and the branches in two regions.
CREATE SCHEMA app;
CREATE SCHEMA billing;

CREATE TABLE app.customers (
    id bigint PRIMARY KEY,
    region text NOT NULL,
    email text,
    note text
);
CREATE UNIQUE INDEX customers_region ON app.customers (region, id);
ALTER TABLE app.customers REPLICA IDENTITY USING INDEX customers_region;

CREATE TABLE app.products (
    sku text PRIMARY KEY,
    price numeric(10, 2) NOT NULL,
    gross numeric(10, 2) GENERATED ALWAYS AS (price * 1.19) STORED,
    active boolean
);
CREATE TABLE app.clicks (at timestamptz, page text);

CREATE TABLE app.orders (
    id bigint,
    placed date,
    region text NOT NULL,
    total numeric(10, 2),
    PRIMARY KEY (id, placed, region)
) PARTITION BY RANGE (placed);
CREATE TABLE app.orders_2024 PARTITION OF app.orders FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE app.orders_2025 PARTITION OF app.orders FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE UNLOGGED TABLE app.orders_rest PARTITION OF app.orders DEFAULT;

CREATE TABLE billing.invoices (id bigint PRIMARY KEY, customer bigint NOT NULL, paid boolean, total numeric(10, 2));
CREATE TABLE billing.payments (id bigint PRIMARY KEY, invoice bigint NOT NULL, amount numeric(10, 2));

CREATE PUBLICATION eu FOR TABLE app.customers WHERE (region IN ('de', 'fr')), app.orders WHERE (region IN ('de', 'fr'))
    WITH (publish_via_partition_root = true);
CREATE PUBLICATION us FOR TABLE app.customers WHERE (region = 'us'), app.orders_2025 WHERE (region = 'us'),
    app.products WHERE (active);
CREATE PUBLICATION partner FOR TABLE app.customers (id, region) WHERE (region = 'fr' OR region = 'de'),
    app.products WHERE (price > 10)
    WITH (publish = 'insert');
CREATE PUBLICATION books FOR TABLES IN SCHEMA billing;
CREATE PUBLICATION warehouse FOR ALL TABLES WITH (publish = 'insert, update, delete');
