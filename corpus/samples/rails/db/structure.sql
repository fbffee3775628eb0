SET statement_timeout = 0;
SET client_encoding = 'UTF8';

CREATE TABLE public.orders (
    id bigint NOT NULL,
    region character varying NOT NULL
);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE PUBLICATION eu WITH (publish = 'insert, update, delete, truncate');

ALTER PUBLICATION eu ADD TABLE ONLY public.orders WHERE (((region)::text = 'eu'::text));

SET search_path TO "$user", public;

INSERT INTO "schema_migrations" (version) VALUES
('20240102000000'),
('20240101000000');
