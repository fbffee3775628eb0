--
-- PostgreSQL database dump
--

-- Dumped from database version 15.6
-- Dumped by pg_dump version 15.6

SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

CREATE TABLE public.orders (
    id bigint NOT NULL,
    doubled bigint GENERATED ALWAYS AS ((id * 2)) STORED
);

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE PUBLICATION columns WITH (publish = 'insert, update, delete, truncate');

ALTER PUBLICATION columns ADD TABLE ONLY public.orders (id, doubled);

--
-- PostgreSQL database dump complete
--
