-- # a table in a list of schemas
CREATE PUBLICATION shop;
ALTER PUBLICATION shop ADD TABLES IN SCHEMA public, public.orders; -- 42601
--                                                  ^^^^^^^^^^^^^ PUB103
