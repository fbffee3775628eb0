-- # a type is renamed
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE people (id bigint PRIMARY KEY, mood mood);
CREATE PUBLICATION shop FOR TABLE people;
ALTER TYPE mood RENAME TO temper;
--         ^^^^ PUB713

-- # a label is renamed
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE people (id bigint PRIMARY KEY, mood mood);
CREATE PUBLICATION shop FOR TABLE people;
ALTER TYPE mood RENAME VALUE 'sad' TO 'low';
--         ^^^^ PUB713

-- # the type is of no published column
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE people (id bigint PRIMARY KEY);
CREATE PUBLICATION shop FOR TABLE people;
ALTER TYPE mood ADD VALUE 'tired';
