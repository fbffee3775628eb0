SET statement_timeout = 0;
SET lock_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;
COMMENT ON EXTENSION citext IS 'data type for case-insensitive character strings';
CREATE EXTENSION IF NOT EXISTS pgcrypto WITH SCHEMA public;
CREATE TYPE public.order_state AS ENUM (
    'pending',
    'paid',
    'shipped'
);
CREATE FUNCTION public.touch_updated_at() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  NEW.updated_at = now();
  RETURN NEW;
END;
$$;
CREATE FUNCTION public.slugify(v text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT
    AS $$ SELECT lower(regexp_replace(v, '[^a-zA-Z0-9]+', '-', 'g')) $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.accounts (
    id bigint NOT NULL,
    name character varying NOT NULL,
    email public.citext NOT NULL,
    plan character varying DEFAULT 'free'::character varying NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    tags character varying[] DEFAULT '{}'::character varying[],
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL,
    CONSTRAINT check_plan CHECK (((plan)::text = ANY ((ARRAY['free'::character varying, 'pro'::character varying])::text[])))
);
CREATE SEQUENCE public.accounts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.accounts_id_seq OWNED BY public.accounts.id;
CREATE TABLE public.ar_internal_metadata (
    key character varying NOT NULL,
    value character varying,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE public.orders (
    id bigint NOT NULL,
    account_id bigint NOT NULL,
    state public.order_state DEFAULT 'pending'::public.order_state NOT NULL,
    total_cents integer DEFAULT 0 NOT NULL,
    currency character varying(3) DEFAULT 'EUR'::character varying NOT NULL,
    total numeric(12,2) GENERATED ALWAYS AS (((total_cents)::numeric / (100)::numeric)) STORED,
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    deleted_at timestamp without time zone,
    created_at timestamp(6) without time zone NOT NULL
)
PARTITION BY RANGE (created_at);
CREATE SEQUENCE public.orders_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1;
ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;
CREATE TABLE public.orders_2024 (
    id bigint DEFAULT nextval('public.orders_id_seq'::regclass) NOT NULL,
    account_id bigint NOT NULL,
    state public.order_state DEFAULT 'pending'::public.order_state NOT NULL,
    total_cents integer DEFAULT 0 NOT NULL,
    currency character varying(3) DEFAULT 'EUR'::character varying NOT NULL,
    total numeric(12,2) GENERATED ALWAYS AS (((total_cents)::numeric / (100)::numeric)) STORED,
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    deleted_at timestamp without time zone,
    created_at timestamp(6) without time zone NOT NULL
);
CREATE TABLE public.schema_migrations (
    version character varying NOT NULL
);
CREATE TABLE public.taggings (
    tag_id bigint NOT NULL,
    taggable_id bigint NOT NULL,
    taggable_type character varying NOT NULL
);
CREATE VIEW public.active_orders AS
 SELECT orders.id,
    orders.account_id,
    orders.total_cents
   FROM public.orders
  WHERE (orders.deleted_at IS NULL);
CREATE MATERIALIZED VIEW public.account_totals AS
 SELECT orders.account_id,
    sum(orders.total_cents) AS total
   FROM public.orders
  GROUP BY orders.account_id
  WITH NO DATA;
ALTER TABLE ONLY public.orders ATTACH PARTITION public.orders_2024 FOR VALUES FROM ('2024-01-01 00:00:00') TO ('2025-01-01 00:00:00');
ALTER TABLE ONLY public.accounts ALTER COLUMN id SET DEFAULT nextval('public.accounts_id_seq'::regclass);
ALTER TABLE ONLY public.orders ALTER COLUMN id SET DEFAULT nextval('public.orders_id_seq'::regclass);
ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.ar_internal_metadata
    ADD CONSTRAINT ar_internal_metadata_pkey PRIMARY KEY (key);
ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id, created_at);
ALTER TABLE ONLY public.orders_2024
    ADD CONSTRAINT orders_2024_pkey PRIMARY KEY (id, created_at);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
CREATE UNIQUE INDEX index_accounts_on_email ON public.accounts USING btree (email);
CREATE INDEX index_accounts_on_settings ON public.accounts USING gin (settings jsonb_path_ops);
CREATE UNIQUE INDEX index_accounts_on_lower_name ON public.accounts USING btree (lower((name)::text));
CREATE INDEX index_accounts_on_slug ON public.accounts USING btree (public.slugify((name)::text));
CREATE INDEX index_orders_on_account_id ON ONLY public.orders USING btree (account_id);
CREATE INDEX orders_2024_account_id_idx ON public.orders_2024 USING btree (account_id);
CREATE UNIQUE INDEX index_taggings ON public.taggings USING btree (tag_id, taggable_id, taggable_type);
CREATE INDEX index_orders_open ON public.orders_2024 USING btree (created_at) WHERE (deleted_at IS NULL);
ALTER INDEX public.orders_pkey ATTACH PARTITION public.orders_2024_pkey;
ALTER INDEX public.index_orders_on_account_id ATTACH PARTITION public.orders_2024_account_id_idx;
CREATE TRIGGER touch BEFORE UPDATE ON public.accounts FOR EACH ROW EXECUTE FUNCTION public.touch_updated_at();
ALTER TABLE public.orders
    ADD CONSTRAINT fk_rails_1 FOREIGN KEY (account_id) REFERENCES public.accounts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.taggings REPLICA IDENTITY USING INDEX index_taggings;
ALTER TABLE ONLY public.accounts REPLICA IDENTITY FULL;
CREATE PUBLICATION analytics WITH (publish = 'insert, update, delete', publish_via_partition_root = true);
ALTER PUBLICATION analytics ADD TABLE ONLY public.accounts (id, name, plan) WHERE (((plan)::text <> 'free'::text));
ALTER PUBLICATION analytics ADD TABLE ONLY public.accounts (id, name, email, plan, settings, tags, created_at, updated_at);
ALTER PUBLICATION analytics ADD TABLE ONLY public.orders WHERE ((deleted_at IS NULL));
ALTER PUBLICATION analytics ADD TABLE ONLY public.orders WHERE ((state = 'paid'::public.order_state));
ALTER PUBLICATION analytics ADD TABLE ONLY public.orders (id, created_at, total_cents) WHERE ((id > 0));
ALTER PUBLICATION analytics ADD TABLE ONLY public.taggings;
ALTER PUBLICATION analytics ADD TABLE ONLY public.active_orders;
ALTER PUBLICATION analytics ADD TABLE ONLY public.account_totals;
ALTER PUBLICATION analytics ADD TABLE ONLY public.orders_id_seq;
CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, update');
CREATE PUBLICATION tagged FOR TABLE public.accounts WHERE (email = 'a@b');
CREATE PUBLICATION tagged FOR TABLE public.accounts WHERE (tags @> ARRAY['x'::character varying]);
CREATE PUBLICATION tagged2 FOR TABLE public.accounts WHERE (public.slugify(name::text) = 'x');
CREATE PUBLICATION tagged3 FOR TABLE public.accounts WHERE (settings ->> 'beta' = 'true');
CREATE PUBLICATION tagged4 FOR TABLE orders;
SET search_path TO "$user", public;
INSERT INTO "schema_migrations" (version) VALUES
('20240101000000'),
('20230101000000');
ALTER TABLE accounts DROP COLUMN plan;
ALTER TABLE accounts DROP COLUMN settings;
ALTER TABLE accounts DROP COLUMN email CASCADE;
ALTER TABLE taggings DROP COLUMN taggable_type;
DROP INDEX index_taggings;
ALTER TABLE orders RENAME COLUMN deleted_at TO archived_at;
ALTER TABLE orders ALTER COLUMN state TYPE text USING state::text;
ALTER TABLE orders DETACH PARTITION orders_2024;
ALTER TABLE orders_2024 SET UNLOGGED;
ALTER TABLE taggings SET UNLOGGED;
DROP TYPE order_state;
ALTER PUBLICATION analytics SET (publish_via_partition_root = false);
ALTER PUBLICATION analytics DROP TABLE accounts;
ALTER PUBLICATION analytics DROP TABLE accounts;
