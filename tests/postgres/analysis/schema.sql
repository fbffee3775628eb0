CREATE TABLE w (id int PRIMARY KEY, i2 smallint, i4 int, i8 bigint, n numeric, f4 real, f8 float8, t text, t2 text, vc varchar(20), c char(5), nm name, b bool, d date, ts timestamp, tz timestamptz, tm time, tmz timetz, iv interval, u uuid, j json, jb jsonb, jp jsonpath, ba bytea, ia int[], ta text[], va varchar[], ip inet, ci cidr, mac macaddr, r int4range, mr int4multirange, pt point, bx box, x xml, tsv tsvector, tsq tsquery, bi bit(4), vb varbit, m money, o oid, rc regclass, ch "char", pl pg_lsn);
CREATE TABLE x2 (id int, i4 int);
CREATE SCHEMA other;
CREATE TYPE ct AS (x int, y text);
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN iarr AS int[];
CREATE TABLE k (id int, a ct, aa ct[], m mood, p posint, ar iarr, "user" text, cc text COLLATE "C", pp text COLLATE "POSIX", a2 int[][]);
