-- # a quoted name in capitals
CREATE PUBLICATION shop WITH ("Publish" = 'insert'); -- 42601
--                            ^^^^^^^^^ PUB120

-- # an option of a subscription
CREATE PUBLICATION shop;
ALTER PUBLICATION shop SET (copy_data = false); -- 42601
--                          ^^^^^^^^^ PUB120
