-- # an empty word between commas
CREATE PUBLICATION shop WITH (publish = 'insert,,update'); -- 42601
--                            ^^^^^^^ PUB122

-- # nothing is a list of nothing
CREATE PUBLICATION shop WITH (publish = '');
