SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA inventory;
ALTER SCHEMA inventory OWNER TO postgres;
CREATE DOMAIN inventory.sku AS character varying(32)
	CONSTRAINT sku_check CHECK (((VALUE)::text ~ '^[A-Z0-9-]+$'::text));
CREATE TYPE inventory.dims AS (
	w numeric(8,2),
	h numeric(8,2)
);
CREATE TYPE inventory.floatrange AS RANGE (
    subtype = double precision,
    multirange_type_name = inventory.floatmultirange,
    subtype_diff = float8mi
);
CREATE FUNCTION inventory.is_big(d inventory.dims) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    BEGIN ATOMIC
 RETURN ((d).w > (100)::numeric);
END;
CREATE FUNCTION inventory.price_with_tax(numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$ SELECT $1 * 1.19 $_$;
CREATE AGGREGATE inventory.median(double precision) (
    SFUNC = array_append,
    STYPE = double precision[],
    INITCOND = '{}'
);
CREATE OPERATOR inventory.=== (
    FUNCTION = texteq,
    LEFTARG = text,
    RIGHTARG = text,
    COMMUTATOR = OPERATOR(inventory.===)
);
CREATE COLLATION inventory.german (provider = icu, locale = 'de-DE');
CREATE TEXT SEARCH CONFIGURATION inventory.simple_de (
    PARSER = pg_catalog."default" );
ALTER TEXT SEARCH CONFIGURATION inventory.simple_de
    ADD MAPPING FOR asciiword WITH simple;
CREATE TABLE inventory.item (
    item_id integer NOT NULL,
    code inventory.sku NOT NULL,
    label text COLLATE inventory.german NOT NULL,
    size inventory.dims,
    band inventory.floatrange,
    price numeric(10,2) DEFAULT 0.00 NOT NULL,
    gross numeric GENERATED ALWAYS AS ((price * 1.19)) STORED,
    attrs jsonb,
    added timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    bin bit(8) DEFAULT '00000000'::"bit",
    CONSTRAINT item_price_check CHECK ((price >= (0)::numeric)),
    CONSTRAINT item_size_check CHECK ((NOT inventory.is_big(size)))
);
ALTER TABLE inventory.item OWNER TO postgres;
ALTER TABLE inventory.item ALTER COLUMN item_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME inventory.item_item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE inventory.stock (
    item_id integer NOT NULL,
    site character(4) NOT NULL,
    qty integer NOT NULL,
    valid tstzrange NOT NULL,
    note text
)
PARTITION BY LIST (site);
CREATE TABLE inventory.stock_ber (
    item_id integer NOT NULL,
    site character(4) NOT NULL,
    qty integer NOT NULL,
    valid tstzrange NOT NULL,
    note text
);
CREATE TABLE inventory.stock_muc (
    qty integer NOT NULL,
    item_id integer NOT NULL,
    note text,
    site character(4) NOT NULL,
    valid tstzrange NOT NULL
);
CREATE TABLE inventory.parent (
    a integer NOT NULL,
    b text
);
CREATE TABLE inventory.child (
    c integer
)
INHERITS (inventory.parent);
CREATE TABLE inventory.typed OF inventory.dims (
    w WITH OPTIONS NOT NULL,
    CONSTRAINT typed_pkey PRIMARY KEY (w)
);
CREATE FOREIGN DATA WRAPPER dummy;
CREATE SERVER remote FOREIGN DATA WRAPPER dummy OPTIONS (
    host 'x'
);
CREATE FOREIGN TABLE inventory.far (
    id integer NOT NULL
)
SERVER remote;
CREATE STATISTICS inventory.item_stats (dependencies) ON code, label FROM inventory.item;
ALTER TABLE ONLY inventory.stock ATTACH PARTITION inventory.stock_ber FOR VALUES IN ('BER');
ALTER TABLE ONLY inventory.stock ATTACH PARTITION inventory.stock_muc FOR VALUES IN ('MUC');
ALTER TABLE ONLY inventory.item
    ADD CONSTRAINT item_code_key UNIQUE (code);
ALTER TABLE ONLY inventory.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (item_id);
ALTER TABLE ONLY inventory.item CLUSTER ON item_pkey;
ALTER TABLE ONLY inventory.stock
    ADD CONSTRAINT stock_pkey PRIMARY KEY (item_id, site);
ALTER TABLE ONLY inventory.stock_ber
    ADD CONSTRAINT stock_ber_pkey PRIMARY KEY (item_id, site);
ALTER TABLE ONLY inventory.stock_muc
    ADD CONSTRAINT stock_muc_pkey PRIMARY KEY (item_id, site);
ALTER TABLE ONLY inventory.stock_ber
    ADD CONSTRAINT stock_ber_excl EXCLUDE USING gist (valid WITH &&) WHERE ((qty > 0));
ALTER TABLE ONLY inventory.parent
    ADD CONSTRAINT parent_pkey PRIMARY KEY (a);
CREATE UNIQUE INDEX child_uq ON inventory.child USING btree (c, a) NULLS NOT DISTINCT;
CREATE INDEX item_attrs ON inventory.item USING gin (attrs);
CREATE INDEX item_label ON inventory.item USING btree (label COLLATE "C" DESC NULLS LAST) INCLUDE (price) WITH (fillfactor='70') WHERE (price > (10)::numeric);
CREATE INDEX item_tax ON inventory.item USING btree (inventory.price_with_tax(price));
ALTER INDEX inventory.stock_pkey ATTACH PARTITION inventory.stock_ber_pkey;
ALTER INDEX inventory.stock_pkey ATTACH PARTITION inventory.stock_muc_pkey;
CREATE RULE protect AS
    ON UPDATE TO inventory.child
   WHERE (old.c IS NOT NULL) DO INSTEAD NOTHING;
ALTER TABLE ONLY inventory.stock REPLICA IDENTITY FULL;
ALTER TABLE ONLY inventory.stock_muc REPLICA IDENTITY FULL;
ALTER TABLE inventory.item ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON inventory.item FOR SELECT USING ((price > (0)::numeric));
CREATE PUBLICATION inv WITH (publish = 'insert, update, delete, truncate');
ALTER PUBLICATION inv OWNER TO postgres;
ALTER PUBLICATION inv ADD TABLE ONLY inventory.item (item_id, code, label, price) WHERE (((price > (0)::numeric) AND ((code)::text ~~ 'A%'::text)));
ALTER PUBLICATION inv ADD TABLE ONLY inventory.item (item_id, code, label, price) WHERE ((item_id > 0));
ALTER PUBLICATION inv ADD TABLE ONLY inventory.stock;
ALTER PUBLICATION inv ADD TABLE ONLY inventory.parent;
ALTER PUBLICATION inv ADD TABLE inventory.child;
ALTER PUBLICATION inv ADD TABLE ONLY inventory.child WHERE ((c > 1));
ALTER PUBLICATION inv ADD TABLE ONLY inventory.typed;
ALTER PUBLICATION inv ADD TABLE ONLY inventory.far;
CREATE PUBLICATION inv_schema;
ALTER PUBLICATION inv_schema ADD TABLES IN SCHEMA inventory;
CREATE PUBLICATION f1 FOR TABLE inventory.item WHERE (((size).w > 5));
CREATE PUBLICATION f2 FOR TABLE inventory.item WHERE (band @> 5.0::float8);
CREATE PUBLICATION f3 FOR TABLE inventory.item WHERE (label OPERATOR(inventory.===) 'x');
CREATE PUBLICATION f4 FOR TABLE inventory.item WHERE (code = 'A');
CREATE PUBLICATION f5 FOR TABLE inventory.item WHERE (label = 'A' COLLATE "C");
CREATE PUBLICATION f6 FOR TABLE inventory.item WHERE (label COLLATE inventory.german > 'A');
CREATE PUBLICATION f7 FOR TABLE inventory.item WHERE (attrs @> '{"a": 1}');
CREATE PUBLICATION f8 FOR TABLE inventory.item WHERE (bin = B'00000001');
CREATE PUBLICATION f9 FOR TABLE inventory.item WHERE (added > CURRENT_TIMESTAMP);
CREATE PUBLICATION f10 FOR TABLE inventory.item WHERE (inventory.price_with_tax(price) > 5);
CREATE PUBLICATION f11 FOR TABLE inventory.item WHERE (gross > 5);
CREATE PUBLICATION f12 FOR TABLE inventory.item (item_id, gross);
CREATE PUBLICATION f13 FOR TABLE inventory.stock WHERE (valid && '[2024-01-01,2024-02-01)'::tstzrange);
CREATE PUBLICATION f14 FOR TABLE inventory.stock_ber (item_id, site, qty), inventory.stock;
CREATE PUBLICATION f15 FOR TABLE inventory.stock (item_id) WITH (publish_via_partition_root = 'on');
CREATE PUBLICATION f16 FOR TABLE inventory.typed WHERE (w > 1) WITH (publish = 'delete');
CREATE PUBLICATION f17 FOR TABLE inventory.item WHERE ((item_id, price) = (1, 2));
CREATE PUBLICATION f18 FOR TABLE inventory.item WHERE (ROW(item_id, price) IN ((1, 2.0), (3, 4)));
CREATE PUBLICATION f19 FOR TABLE inventory.item WHERE (item_id = ANY (ARRAY[1, 2, 3]) AND price BETWEEN 1 AND 2);
CREATE PUBLICATION f20 FOR TABLE inventory.item WHERE (CASE WHEN price > 1 THEN true ELSE NULL END);
CREATE PUBLICATION f21 FOR TABLE inventory.item WHERE (item_id IS DISTINCT FROM 3 AND price IS NOT NULL AND code LIKE ANY (ARRAY['a','b']));
CREATE PUBLICATION f22 FOR TABLE inventory.item WHERE (item IS NOT NULL);
CREATE PUBLICATION f23 FOR TABLE inventory.item WHERE (substring(label from 1 for 2) = 'ab' AND position('x' in label) > 0 AND extract(year from added) = 2024);
CREATE PUBLICATION f24 FOR TABLE inventory.item WHERE (overlay(label placing 'x' from 1) = 'x' AND trim(both from label) = 'y');
CREATE PUBLICATION f25 FOR TABLE inventory.item WHERE (date_trunc('day', added) = '2024-01-01');
CREATE PUBLICATION f26 FOR TABLE inventory.item WHERE (item_id = 1.5 AND item_id > '2' AND price = 3::int8);
ALTER TABLE inventory.item ALTER COLUMN code TYPE text;
ALTER TABLE inventory.item DROP CONSTRAINT item_pkey;
ALTER TABLE inventory.item ALTER COLUMN price DROP EXPRESSION;
ALTER TABLE inventory.item ALTER COLUMN gross DROP EXPRESSION;
ALTER TABLE inventory.item DROP COLUMN gross;
ALTER TABLE inventory.child NO INHERIT inventory.parent;
ALTER TABLE inventory.child INHERIT inventory.parent;
ALTER TABLE inventory.typed NOT OF;
ALTER TABLE inventory.parent ADD COLUMN d int, ADD COLUMN e text DEFAULT 'x';
ALTER TABLE inventory.parent DROP COLUMN b;
DROP COLLATION inventory.german;
DROP FUNCTION inventory.is_big(inventory.dims);
DROP FUNCTION inventory.price_with_tax(numeric);
DROP DOMAIN inventory.sku;
DROP TYPE inventory.floatrange;
DROP OPERATOR inventory.=== (text, text);
DROP TYPE inventory.floatrange CASCADE;
DROP SCHEMA inventory;
