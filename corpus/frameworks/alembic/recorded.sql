-- alembic 1.20.1, SQLAlchemy 2.1.9: alembic upgrade head --sql
-- Running upgrade  -> 0a
CREATE TYPE user_status AS ENUM ('new', 'old');
CREATE TABLE users (
    id SERIAL NOT NULL, 
    email VARCHAR(255) NOT NULL, 
    "displayName" VARCHAR(80), 
    age SMALLINT, 
    created TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL, 
    status user_status NOT NULL, 
    CONSTRAINT pk_users PRIMARY KEY (id), 
    CONSTRAINT uq_users_email UNIQUE (email), 
    CONSTRAINT ck_users_age CHECK (age > 0)
);
CREATE TABLE orders (
    id BIGSERIAL NOT NULL, 
    user_id INTEGER NOT NULL, 
    number TEXT NOT NULL, 
    region VARCHAR NOT NULL, 
    total NUMERIC(10, 2), 
    paid BOOLEAN NOT NULL, 
    status user_status, 
    data JSONB, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE, 
    UNIQUE (number)
);
CREATE INDEX ix_orders_user_id ON orders (user_id);
CREATE TABLE lines (
    order_id BIGINT NOT NULL, 
    number INTEGER NOT NULL, 
    tags VARCHAR(40)[], 
    price FLOAT, 
    weight DOUBLE PRECISION, 
    net INTEGER GENERATED ALWAYS AS (number * 2) STORED, 
    PRIMARY KEY (order_id, number), 
    CONSTRAINT fk_lines_order FOREIGN KEY(order_id) REFERENCES orders (id)
);
CREATE TABLE public.visits (
    at TIMESTAMP WITHOUT TIME ZONE, 
    day DATE, 
    time TIME WITHOUT TIME ZONE, 
    token UUID, 
    uid UUID NOT NULL, 
    address INET, 
    body BYTEA
);
CREATE UNIQUE INDEX ix_users_email ON users (email);
CREATE INDEX ix_lower ON users (lower(email));
CREATE UNIQUE INDEX ix_visits_uid ON visits (uid) WHERE uid IS NOT NULL;
-- Running upgrade 0a -> 0b
ALTER TABLE visits ADD COLUMN id INTEGER NOT NULL;
ALTER TABLE visits ADD CONSTRAINT visits_pk PRIMARY KEY (id, uid);
ALTER TABLE users ADD COLUMN code VARCHAR(12) NOT NULL;
ALTER TABLE users ADD UNIQUE (code);
ALTER TABLE users ADD COLUMN parent_id INTEGER;
ALTER TABLE users ADD FOREIGN KEY(parent_id) REFERENCES users (id);
ALTER TABLE users ALTER COLUMN age TYPE BIGINT;
ALTER TABLE users ALTER COLUMN age SET NOT NULL;
ALTER TABLE users RENAME "displayName" TO display_name;
ALTER TABLE users DROP CONSTRAINT uq_users_email;
ALTER TABLE users ADD CONSTRAINT uq_users_code_email UNIQUE (code, email);
ALTER TABLE lines ADD CONSTRAINT fk_lines_self FOREIGN KEY(order_id, number) REFERENCES lines (order_id, number);
ALTER TABLE lines DROP CONSTRAINT fk_lines_order;
ALTER TABLE orders ADD COLUMN note TEXT;
ALTER TABLE orders ALTER COLUMN region DROP NOT NULL;
ALTER TABLE orders DROP COLUMN paid;
CREATE UNIQUE INDEX ix_orders_region ON orders (region, id);
ALTER TABLE orders ADD CONSTRAINT ck_total CHECK (total > 0);
DROP INDEX ix_visits_uid;
ALTER TABLE visits RENAME TO calls;
CREATE PUBLICATION everything FOR TABLE users, orders, lines, calls;
