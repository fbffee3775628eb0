CREATE TABLE authors (id int PRIMARY KEY, name text);
CREATE TABLE books (id int PRIMARY KEY, author int REFERENCES authors ON DELETE SET NULL ON UPDATE CASCADE, title text);
CREATE TABLE reviews (id int PRIMARY KEY, book int NOT NULL REFERENCES books ON DELETE CASCADE, stars int DEFAULT 3);
CREATE TABLE shelves (book int PRIMARY KEY REFERENCES books ON DELETE RESTRICT, place text);
CREATE PUBLICATION p FOR ALL TABLES;
-- script
INSERT INTO authors VALUES (1, 'a'), (2, 'b');
INSERT INTO books VALUES (1, 1, 'one'), (2, 1, 'two'), (3, 2, 'three');
INSERT INTO reviews VALUES (1, 1, DEFAULT), (2, 1, 5), (3, 3, 1);
INSERT INTO shelves VALUES (2, 'left');
UPDATE authors SET id = 10 WHERE id = 1;
DELETE FROM books WHERE id = 1;
DELETE FROM books WHERE id = 2;
DELETE FROM authors;
TRUNCATE authors;
TRUNCATE authors, books CASCADE;
