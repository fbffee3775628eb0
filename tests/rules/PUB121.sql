-- # the same value twice
CREATE PUBLICATION shop WITH (publish_via_partition_root = true, publish_via_partition_root = true); -- 42601
--                                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^ PUB121
