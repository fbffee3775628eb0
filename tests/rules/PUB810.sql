-- # SET PUBLICATION
CREATE PUBLICATION shop;
CREATE SUBSCRIPTION s CONNECTION 'dbname=other' PUBLICATION shop WITH (connect = false);
ALTER SUBSCRIPTION s SET PUBLICATION stock WITH (refresh = false);
--                                   ^^^^^ PUB810
