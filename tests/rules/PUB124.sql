-- # ALTER PUBLICATION
CREATE PUBLICATION shop;
ALTER PUBLICATION shop SET (publish); -- 42601
--                          ^^^^^^^ PUB124
