-- # a DELETE before the identity is set
CREATE TABLE visits (page text);
CREATE PUBLICATION shop FOR TABLE visits;
DELETE FROM visits; -- 55000
--          ^^^^^^ PUB138
ALTER TABLE visits REPLICA IDENTITY FULL;

-- # an insert needs no identity
CREATE TABLE visits (page text);
CREATE PUBLICATION shop FOR TABLE visits;
INSERT INTO visits VALUES ('/');
ALTER TABLE visits REPLICA IDENTITY FULL;
