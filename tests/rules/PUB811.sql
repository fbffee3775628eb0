-- # dropped and not created again
CREATE PUBLICATION shop;
DROP PUBLICATION shop;
--               ^^^^ PUB811
