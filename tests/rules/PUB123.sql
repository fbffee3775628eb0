-- # a plural
CREATE PUBLICATION shop WITH (publish = 'inserts'); -- 42601
--                            ^^^^^^^ PUB123

-- # blanks around commas
CREATE PUBLICATION shop WITH (publish = ' insert ,  delete ');
