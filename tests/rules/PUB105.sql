-- # a publication renamed to the name of another one
CREATE PUBLICATION shop;
CREATE PUBLICATION store;
ALTER PUBLICATION store RENAME TO shop; -- 42710
--                                ^^^^ PUB105

-- # the name is free again
CREATE PUBLICATION shop;
DROP PUBLICATION shop;
CREATE PUBLICATION shop;
