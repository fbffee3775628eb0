-- # ON UPDATE CASCADE
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE visits (user_id bigint REFERENCES users ON UPDATE CASCADE);
CREATE PUBLICATION shop FOR TABLE visits;
--                                ^^^^^^ PUB306

-- # NO ACTION runs nothing
CREATE TABLE users (id bigint PRIMARY KEY);
CREATE TABLE visits (user_id bigint REFERENCES users);
CREATE PUBLICATION shop FOR TABLE visits;
DELETE FROM users;
