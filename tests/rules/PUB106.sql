-- # dropped before
CREATE PUBLICATION shop;
DROP PUBLICATION shop;
ALTER PUBLICATION shop SET (publish = 'insert'); -- 42704
--                ^^^^ PUB106

-- # IF EXISTS takes a missing one
DROP PUBLICATION IF EXISTS shop;

-- # an owner of a publication that is renamed
CREATE PUBLICATION shop;
ALTER PUBLICATION shop RENAME TO store;
ALTER PUBLICATION shop OWNER TO CURRENT_USER; -- 42704
--                ^^^^ PUB106
