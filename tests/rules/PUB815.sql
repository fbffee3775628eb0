-- # a value without send function is sent as text
CREATE TABLE grants (id bigint PRIMARY KEY, own aclitem);
CREATE PUBLICATION shop FOR TABLE grants;
CREATE SUBSCRIPTION copy CONNECTION 'dbname=shop' PUBLICATION shop WITH (connect = false, slot_name = NONE, binary = true);

-- # the column is not published
CREATE TABLE grants (id bigint PRIMARY KEY, own aclitem[]);
CREATE PUBLICATION shop FOR TABLE grants (id);
CREATE SUBSCRIPTION copy CONNECTION 'dbname=shop' PUBLICATION shop WITH (connect = false, slot_name = NONE, binary = true);

-- # binary is set later
CREATE TABLE grants (id bigint PRIMARY KEY, own aclitem[]);
CREATE PUBLICATION shop FOR TABLE grants;
CREATE SUBSCRIPTION copy CONNECTION 'dbname=shop' PUBLICATION shop WITH (connect = false, slot_name = NONE);
--                  ^^^^ PUB815
ALTER SUBSCRIPTION copy SET (binary = true);
