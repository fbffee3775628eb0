-- # an option that no subscription has
CREATE SUBSCRIPTION copy CONNECTION 'dbname=shop' PUBLICATION shop WITH (connect = false, colour = 'red'); -- 42601
--                                                                                        ^^^^^^ PUB140

-- # a subscription without a connection
CREATE SUBSCRIPTION copy CONNECTION 'dbname=shop' PUBLICATION shop WITH (connect = false);
