SET statement_timeout = 0;
--
-- PostgreSQL database dump
--

-- Dumped from database version 16.3
-- Dumped by pg_dump version 16.3

CREATE TABLE public.orders (
    id bigint NOT NULL,
    region text NOT NULL,
    total numeric(10,2) NOT NULL
);

ALTER TABLE ONLY public.orders REPLICA IDENTITY FULL;

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);

CREATE PUBLICATION eu WITH (publish = 'insert, update, delete, truncate');

ALTER PUBLICATION eu ADD TABLE ONLY public.orders WHERE ((region = 'eu'::text));
