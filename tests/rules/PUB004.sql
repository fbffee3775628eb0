-- # AUTOINCREMENT of SQLite in a file about a publication
CREATE TABLE orders (id integer PRIMARY KEY AUTOINCREMENT); -- 42601
--^^^^ PUB004
CREATE PUBLICATION shop;

-- # nothing here is about publications
CREATE TABLE orders (id integer PRIMARY KEY AUTOINCREMENT); -- 42601
