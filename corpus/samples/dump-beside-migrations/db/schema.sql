--
-- PostgreSQL database dump
--

-- Dumped from database version 17.2
-- Dumped by pg_dump version 17.2

SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.orders (
    id bigint NOT NULL,
    region text NOT NULL
);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE PUBLICATION eu WITH (publish = 'insert, update, delete, truncate');

ALTER PUBLICATION eu ADD TABLE ONLY public.orders WHERE ((region = 'eu'::text));

--
-- PostgreSQL database dump complete
--
