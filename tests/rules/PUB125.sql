-- # numbers other than 0 and 1
CREATE PUBLICATION shop WITH (publish_via_partition_root = 2); -- 42601
--                            ^^^^^^^^^^^^^^^^^^^^^^^^^^ PUB125

-- # on and off
CREATE PUBLICATION shop WITH (publish_via_partition_root = off);
