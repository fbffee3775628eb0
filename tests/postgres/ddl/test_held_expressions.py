"""Expressions that tables hold: conditions, defaults, generated columns and partition keys."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.support.linting import lint

SCRIPTS = {
    "checks and defaults": r"""
        CREATE TABLE k0 (id int, a text, n numeric, b bool, j jsonb, d date, ts timestamptz, arr int[]);
        CREATE TABLE c1 (id int CHECK (id)); -- 42804
        CREATE TABLE c2 (id int CHECK (id + 1)); -- 42804
        CREATE TABLE c3 (id int, a text, CHECK (a)); -- 42804
        CREATE TABLE c4 (b bool CHECK (b));
        CREATE TABLE c5 (id int CHECK (id > 'abc')); -- 22P02
        CREATE TABLE c6 (id int, a text CHECK (a > 5)); -- 42883
        CREATE TABLE c7 (id int CHECK (id > (SELECT 1))); -- 0A000
        CREATE TABLE c8 (id int CHECK (count(id) > 1)); -- 42803
        CREATE TABLE c9 (id int CHECK (row_number() OVER () > 1)); -- 42P20
        CREATE TABLE c10 (id int CHECK (generate_series(1, id) > 1)); -- 0A000
        CREATE TABLE c11 (id int CHECK (nosuch(id))); -- 42883
        CREATE TABLE c12 (id int CHECK (ctid IS NOT NULL)); -- 42P10
        CREATE TABLE c13 (id int CHECK (tableoid > 0));
        CREATE TABLE c14 (id int CHECK (c14 IS NOT NULL));
        CREATE TABLE c15 (id int CHECK (c15.id > 0));
        CREATE TABLE c16 (id int CHECK (other.id > 0)); -- 42P01
        CREATE TABLE c17 (id int CHECK (now() > 'yesterday'));
        CREATE TABLE c18 (id int CHECK ('true'));
        CREATE TABLE c19 (id int CHECK ('maybe')); -- 22P02
        CREATE TABLE c20 (id int CHECK (NULL));
        CREATE TABLE c21 (id int CHECK (1)); -- 42804
        CREATE TABLE c22 (a text CHECK (a ~ '^[a-z]+$' AND length(a) < 10));
        CREATE TABLE c23 (a text CHECK (a IN ('x','y')));
        CREATE TABLE c24 (id int CHECK (id IN ('x','y'))); -- 22P02
        CREATE TABLE c25 (id int CHECK (id BETWEEN 1 AND 10));
        CREATE TABLE c26 (id int CHECK (id = ANY (ARRAY[1,2])));
        CREATE TABLE c27 (id int CHECK (id = ANY (ARRAY['a','b']))); -- 42883
        CREATE TABLE c28 (id int CHECK (id = ANY ('{1,2}')));
        CREATE TABLE c29 (id int CHECK (id LIKE 'a%')); -- 42883
        CREATE TABLE c30 (j jsonb CHECK (j ? 'a'));
        CREATE TABLE c31 (j json CHECK (j ? 'a')); -- 42883
        CREATE TABLE c32 (j jsonb CHECK (j->>'a' > 5)); -- 42883
        CREATE TABLE c33 (id int CHECK (id > 0 AND id)); -- 42804
        CREATE TABLE c34 (id int CHECK (NOT id)); -- 42804
        CREATE TABLE c35 (id int CHECK (CASE WHEN id > 0 THEN true ELSE 'x' END)); -- 22P02
        CREATE TABLE c36 (a text CHECK (a COLLATE "nosuch" > 'a')); -- 42704
        CREATE TABLE c37 (a text COLLATE "C", b text COLLATE "POSIX", CHECK (a < b));
        CREATE TABLE c38 (id int, CHECK (id > nosuch)); -- 42703
        CREATE TABLE c39 (d date CHECK (d > '2020-13-01')); -- 22008
        CREATE TABLE c40 (d date CHECK (d > '2020-12-01'));
        CREATE TABLE c41 (id int CHECK (id > $1)); -- 42P02
        CREATE TABLE c42 (id int CHECK (id > DEFAULT)); -- 42601
        CREATE TABLE c43 (id int CHECK (id::nosuch > 1)); -- 42704
        CREATE TABLE c44 (id int CHECK ((id, 1) < (2, 3)));
        CREATE TABLE c45 (ts timestamptz CHECK (date_trunc('day', ts) = ts));
        CREATE TABLE c46 (arr int[] CHECK (array_length(arr, 1) = 3));
        CREATE TABLE c47 (arr int[] CHECK (cardinality(arr) = '3'));
        CREATE TABLE c48 (id int, EXCLUDE USING gist (id WITH =)); -- 42704
        CREATE TABLE c49 (id int, EXCLUDE (id WITH =));
        CREATE TABLE c51 (r tstzrange, EXCLUDE USING gist (r WITH &&));
        ALTER TABLE k0 ADD CHECK (id); -- 42804
        ALTER TABLE k0 ADD CHECK (id > 'x'); -- 22P02
        ALTER TABLE k0 ADD COLUMN x1 int CHECK (x1); -- 42804
        ALTER TABLE k0 ADD COLUMN x2 int DEFAULT 'abc'; -- 22P02
        ALTER TABLE k0 ADD COLUMN x3 int DEFAULT LOCALTIME; -- 42804
        ALTER TABLE k0 ALTER id SET DEFAULT 'abc'; -- 22P02
        ALTER TABLE k0 ALTER id SET DEFAULT CURRENT_TIME; -- 42804
        CREATE TABLE d1 (id int DEFAULT LOCALTIME); -- 42804
        CREATE TABLE d2 (id int DEFAULT CURRENT_TIME(2)); -- 42804
        CREATE TABLE d3 (id int DEFAULT LOCALTIMESTAMP(2)); -- 42804
        CREATE TABLE d4 (id int DEFAULT CURRENT_TIMESTAMP(2)); -- 42804
        CREATE TABLE d5 (id date DEFAULT CURRENT_TIMESTAMP(2));
        CREATE TABLE d6 (id time DEFAULT LOCALTIME(0));
        CREATE TABLE d7 (id time DEFAULT CURRENT_TIME);
        CREATE TABLE d8 (id timetz DEFAULT LOCALTIME);
        CREATE TABLE d9 (id text DEFAULT LOCALTIME);
        CREATE TABLE d10 (id int DEFAULT CURRENT_CATALOG); -- 42804
        CREATE TABLE d11 (id text DEFAULT CURRENT_SCHEMA);
        CREATE TABLE d12 (id int DEFAULT CURRENT_USER); -- 42804
        CREATE TABLE d13 (id timestamp DEFAULT LOCALTIME); -- 42804
        CREATE TABLE d14 (id time DEFAULT now());
        CREATE TABLE d15 (id int DEFAULT count(1)); -- 42803
        CREATE TABLE d16 (id int DEFAULT count(*)); -- 42803
        CREATE TABLE d17 (id int DEFAULT (SELECT 1)); -- 0A000
        CREATE TABLE d18 (id int DEFAULT row_number() OVER ()); -- 42P20
        CREATE TABLE d19 (id int DEFAULT generate_series(1,2)); -- 0A000
        CREATE TABLE d20 (id int, x int DEFAULT id); -- 0A000
        CREATE TABLE d21 (id int DEFAULT nosuch()); -- 42883
        CREATE TABLE d22 (id int DEFAULT nosuch(1)); -- 42883
        CREATE TABLE d23 (id int DEFAULT nextval('nosuch')); -- 42P01
        CREATE TABLE d24 (id int DEFAULT length('abc'));
        CREATE TABLE d25 (id int DEFAULT lower('abc')); -- 42804
        CREATE TABLE d26 (id int DEFAULT lower('abc')::int);
        CREATE TABLE d27 (id int DEFAULT 1 + 1.5);
        CREATE TABLE d28 (id int DEFAULT 'a' || 'b'); -- 42804
        CREATE TABLE d29 (id text DEFAULT 1 || 'b');
        CREATE TABLE d30 (id text DEFAULT 1 + 'b'); -- 22P02
        CREATE TABLE d31 (id timestamptz DEFAULT now() + interval '1 day');
        CREATE TABLE d32 (id timestamptz DEFAULT now() + 1); -- 42883
        CREATE TABLE d33 (id date DEFAULT CURRENT_DATE + 1);
        CREATE TABLE d34 (id timestamptz DEFAULT timezone('utc', now()));
        CREATE TABLE d35 (id timestamptz DEFAULT (now() AT TIME ZONE 'utc'));
        CREATE TABLE d36 (id int DEFAULT extract(epoch from now()));
        CREATE TABLE d37 (id int DEFAULT extract(epoch from now())::int);
        CREATE TABLE d38 (id text[] DEFAULT '{}');
        CREATE TABLE d39 (id text[] DEFAULT ARRAY[]::text[]);
        CREATE TABLE d40 (id text[] DEFAULT ARRAY[]); -- 42P18
        CREATE TABLE d41 (id text[] DEFAULT 'abc'); -- 22P02
        CREATE TABLE d42 (id jsonb DEFAULT '{"a":1}');
        CREATE TABLE d43 (id jsonb DEFAULT '{a:1}'); -- 22P02
        CREATE TABLE d44 (id jsonb DEFAULT jsonb_build_object('a', 1));
        CREATE TABLE d45 (id uuid DEFAULT uuid_generate_v4()); -- 42883
        CREATE TABLE d46 (id uuid DEFAULT gen_random_uuid());
        CREATE TABLE d47 (id text DEFAULT gen_random_uuid());
        CREATE TABLE d48 (id int DEFAULT gen_random_uuid()); -- 42804
        CREATE TABLE d49 (id uuid DEFAULT uuidv7()); -- 15: 42883, 16: 42883, 17: 42883
        CREATE TABLE d50 (id int DEFAULT random() * 100);
        CREATE TABLE d51 (id int DEFAULT floor(random() * 100));
        CREATE TABLE d52 (id bool DEFAULT 1); -- 42804
        CREATE TABLE d53 (id bool DEFAULT 'yes');
        CREATE TABLE d54 (id bool DEFAULT 'ja'); -- 22P02
        CREATE TABLE d55 (id int DEFAULT true); -- 42804
        CREATE TABLE d56 (id numeric(3,1) DEFAULT 1000);
        CREATE TABLE d57 (id varchar(3) DEFAULT 'abcdef');
        CREATE TABLE d58 (id int DEFAULT NULL);
        CREATE TABLE d59 (id int DEFAULT NULL::text); -- 42804
        CREATE TABLE d60 (id interval DEFAULT '1 day');
        CREATE TABLE d61 (id interval DEFAULT 1); -- 42804
        CREATE TABLE d62 (id inet DEFAULT '127.0.0.1');
        CREATE TABLE d63 (id inet DEFAULT 'localhost'); -- 22P02
        CREATE TABLE d64 (id int DEFAULT current_setting('a.b')::int);
        CREATE TABLE d65 (id int DEFAULT current_setting('a.b')); -- 42804
        CREATE TABLE d66 (id date DEFAULT 'today');
        CREATE TABLE d67 (id bytea DEFAULT '\xzz'); -- 22023
        CREATE TABLE d68 (id int DEFAULT 99999999999);
        CREATE TABLE d69 (id smallint DEFAULT 70000);
        CREATE TABLE d70 (id int DEFAULT $1); -- 42P02
        CREATE TABLE g1 (id int, g int GENERATED ALWAYS AS (id + 'x') STORED); -- 22P02
        CREATE TABLE g2 (id int, g int GENERATED ALWAYS AS (count(id)) STORED); -- 42803
        CREATE TABLE g3 (id int, g text GENERATED ALWAYS AS (id) STORED);
        CREATE TABLE g4 (id int, g int GENERATED ALWAYS AS (id::text) STORED); -- 42804
        CREATE TABLE g5 (id int, g int GENERATED ALWAYS AS (random()) STORED); -- 42P17
        CREATE TABLE g6 (ts timestamptz, g date GENERATED ALWAYS AS (ts::date) STORED); -- 42P17
        CREATE TABLE g7 (a text, g tsvector GENERATED ALWAYS AS (to_tsvector(a)) STORED); -- 42P17
        CREATE TABLE g8 (a text, g tsvector GENERATED ALWAYS AS (to_tsvector('english', a)) STORED);
        CREATE TABLE g9 (a text, b text, g text GENERATED ALWAYS AS (concat(a, b)) STORED); -- 42P17
        CREATE TABLE g10 (a text, b text, g text GENERATED ALWAYS AS (a || ' ' || b) STORED);
        CREATE TABLE g11 (a int, g text GENERATED ALWAYS AS ('x' || a) STORED);
        CREATE TABLE g12 (id int, g int GENERATED ALWAYS AS (generate_series(1,id)) STORED); -- 0A000
        CREATE TABLE g13 (id int, g int GENERATED ALWAYS AS (g + 1) STORED); -- 42P17
        CREATE TABLE g14 (id int, g int GENERATED ALWAYS AS (id) STORED PRIMARY KEY);
        CREATE TABLE p1 (id int, j json) PARTITION BY RANGE (j); -- 42704
        CREATE TABLE p2 (id int, j jsonb) PARTITION BY LIST ((j->>'a'));
        CREATE TABLE p3 (id int, ts timestamptz) PARTITION BY RANGE (date_trunc('day', ts)); -- 42P17
        CREATE TABLE p4 (id int, ts timestamp) PARTITION BY RANGE (date_trunc('day', ts));
        CREATE TABLE p5 (id int) PARTITION BY RANGE (random()); -- 42P17
        CREATE TABLE p6 (id int) PARTITION BY RANGE ((1)); -- 42P17
        CREATE TABLE p7 (id int) PARTITION BY RANGE (((SELECT 1))); -- 0A000
        CREATE TABLE p8 (id int) PARTITION BY RANGE (count(id)); -- 42803
        CREATE TABLE p9 (id int) PARTITION BY RANGE (nosuch); -- 42703
        CREATE TABLE p10 (id int) PARTITION BY RANGE (ctid); -- 42P17
        CREATE TABLE p11 (id int, b box) PARTITION BY HASH (b); -- 42704
        CREATE TABLE p13 (id int, a text) PARTITION BY LIST (id COLLATE "C"); -- 42804
        CREATE TABLE p14 (id int, a text) PARTITION BY RANGE (id, id);
        CREATE TABLE p15 (id int) PARTITION BY RANGE (nosuch(id)); -- 42883
        CREATE TABLE p16 (id int) PARTITION BY RANGE (generate_series(1,id)); -- 0A000
        CREATE TABLE p17 (id int) PARTITION BY RANGE ((row(id))); -- 42P16
        CREATE TABLE p18 (id int) PARTITION BY RANGE ((p18));
    """,
    "lists as people and pg_dump write them": r"""
        CREATE TABLE a1 (a text CHECK (a = ANY (ARRAY['x', 'y'])));
        CREATE TABLE a3 (a int CHECK (a = ANY (ARRAY[1, 2])));
        CREATE TABLE a4 (a int CHECK (a = ANY (ARRAY['x', 'y']))); -- 42883
        CREATE TABLE a5 (a int CHECK (a::text = ANY (ARRAY['x', 'y'])));
        CREATE TABLE a6 (a int CHECK (a::text = ANY (ARRAY[1, 2]))); -- 42883
        CREATE TABLE a7 (a text CHECK (a = ANY (ARRAY[1, 2]))); -- 42883
        CREATE TABLE a8 (a text CHECK (a = 'x'));
        CREATE TABLE a9 (a text CHECK (a = ANY ('x'))); -- 22P02
        CREATE TABLE a10 (a text CHECK (a = ANY ('{x}')));
        CREATE TABLE a11 (a text CHECK (a = ARRAY['x'])); -- 42883
        CREATE TABLE a12 (a text CHECK (a IN ('x', 'y')));
        CREATE TABLE a13 (a text CHECK (a = ANY (ARRAY[]::text[])));
        CREATE TABLE a14 (a text CHECK (a = ANY (ARRAY[]))); -- 42P18
        CREATE TABLE a15 (a int CHECK (a = ANY (1))); -- 42809
        CREATE TABLE a16 (a int CHECK (a = 1::text)); -- 42883
        CREATE TABLE a17 (a int CHECK (a = '1'::text)); -- 42883
        CREATE TABLE a18 (a numeric CHECK (a > (0)::numeric));
        CREATE TABLE a19 (a text CHECK (a > (0)::numeric)); -- 42883
        CREATE TABLE a20 (a text CHECK (a = ALL (ARRAY['x'])));
        CREATE TABLE a21 (a text CHECK (a LIKE ANY (ARRAY['x%', 'y%'])));
        CREATE TABLE a22 (a char(3) CHECK (a = ANY (ARRAY['x'::bpchar, 'y'::bpchar])));
        CREATE TABLE a23 (a text CHECK (a = ANY (ARRAY[ARRAY['x']])));
        CREATE TABLE a24 (a varchar CHECK (a::text ~ '^x'::text));
        CREATE TABLE a25 (a int CHECK (a = ARRAY[1])); -- 42883
        CREATE TABLE a26 (a text CHECK (a::char(3) = 'x'));
        CREATE TABLE a27 (a int CHECK (a IN (1, '2', 3)));
        CREATE TABLE a28 (a int CHECK (a NOT IN (1, 2)));
    """,
    "generated columns after planning": r"""
        CREATE FUNCTION fn(a text, b text) RETURNS text LANGUAGE sql AS $$ select a || ' ' || b $$;
        CREATE TABLE g1 (a text, g text GENERATED ALWAYS AS (fn(a, a)) STORED);
        CREATE FUNCTION fs(a text, b text) RETURNS text LANGUAGE sql STABLE AS $$ select a || ' ' || b $$;
        CREATE TABLE g2 (a text, g text GENERATED ALWAYS AS (fs(a, a)) STORED);
        CREATE FUNCTION fr(a text, b text) RETURNS text LANGUAGE sql RETURN a || ' ' || b;
        CREATE TABLE g3 (a text, g text GENERATED ALWAYS AS (fr(a, a)) STORED);
        CREATE FUNCTION fp(a text, b text) RETURNS text LANGUAGE plpgsql AS $$ begin return a || ' ' || b; end $$;
        CREATE TABLE g4 (a text, g text GENERATED ALWAYS AS (fp(a, a)) STORED); -- 42P17
        CREATE TABLE g5 (a timestamptz, g text GENERATED ALWAYS AS ('x' || a) STORED); -- 42P17
        CREATE TABLE g6 (a date, g text GENERATED ALWAYS AS ('x' || a) STORED); -- 42P17
        CREATE TABLE g7 (a bool, g text GENERATED ALWAYS AS (a || 'x'::text) STORED);
        CREATE TABLE g8 (a numeric, b text, g text GENERATED ALWAYS AS (a || b) STORED);
        CREATE TABLE g9 (a float8, b text, g text GENERATED ALWAYS AS (a || b) STORED);
        CREATE TYPE e AS ENUM ('x');
        CREATE TABLE g10 (a e, b text, g text GENERATED ALWAYS AS (a || b) STORED); -- 42P17
        CREATE TABLE g11 (a e, b text, g text GENERATED ALWAYS AS (a::text) STORED); -- 42P17
        CREATE TABLE g12 (a e, b text, g text GENERATED ALWAYS AS (b || a::text) STORED); -- 42P17
        CREATE TABLE g13 (a uuid, b text, g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g14 (a jsonb, b text, g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g15 (a bytea, b text, g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g16 (a interval, b text, g text GENERATED ALWAYS AS (b || a) STORED); -- 42P17
        CREATE TABLE g17 (a time, b text, g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g18 (a name, b text, g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g19 (a "char", b text, g text GENERATED ALWAYS AS (b || a) STORED); -- 42725
        CREATE TABLE g20 (a varchar, b char(3), g text GENERATED ALWAYS AS (b || a) STORED);
        CREATE TABLE g21 (a varchar, b char(3), g text GENERATED ALWAYS AS (b || 5) STORED);
        CREATE TABLE g22 (a money, g text GENERATED ALWAYS AS ('' || a) STORED); -- 42P17
        CREATE TABLE g23 (a int4range, g text GENERATED ALWAYS AS ('' || a) STORED); -- 42P17
        CREATE TABLE g24 (a inet, g text GENERATED ALWAYS AS ('' || a) STORED);
        CREATE TABLE g25 (a int, g text GENERATED ALWAYS AS (CASE WHEN false THEN now()::text ELSE 'x' END) STORED);
        CREATE TABLE g27 (a int, g date GENERATED ALWAYS AS (('2020-01-01'::text)::date) STORED); -- 42P17
        CREATE TABLE g28 (a int, g date GENERATED ALWAYS AS (to_date('2020', 'YYYY')) STORED); -- 42P17
        CREATE TABLE g29 (a int, g date GENERATED ALWAYS AS (coalesce('2020-01-01'::date, current_date)) STORED);
        CREATE TABLE g30 (a int, g date GENERATED ALWAYS AS ('2020-01-01'::date + 1) STORED);
        CREATE TABLE g31 (a int, g bool GENERATED ALWAYS AS (true OR now() > '2020-01-01') STORED);
        CREATE TABLE g32 (a int, g bool GENERATED ALWAYS AS (a > 0 OR true OR now() > '2020-01-01') STORED);
        CREATE FUNCTION fstrict(a text) RETURNS text LANGUAGE sql STRICT AS $$ select a || ' ' $$;
        CREATE TABLE g33 (a text, g text GENERATED ALWAYS AS (fstrict(a)) STORED);
        CREATE FUNCTION ffrom(a text) RETURNS text LANGUAGE sql AS $$ select relname::text from pg_class limit 1 $$;
        CREATE TABLE g35 (a date, g text GENERATED ALWAYS AS (to_char(a, 'YYYY')) STORED); -- 42P17
        CREATE TABLE g36 (a int, b text, g text GENERATED ALWAYS AS (concat_ws(' ', b, b)) STORED); -- 42P17
        CREATE TABLE g37 (a int, g text GENERATED ALWAYS AS (format('%s', a)) STORED); -- 42P17
        CREATE TABLE g38 (a text[], g text GENERATED ALWAYS AS (array_to_string(a, ',')) STORED); -- 42P17
        CREATE TABLE g39 (a jsonb, g timestamptz GENERATED ALWAYS AS ((a->>'x')::timestamptz) STORED); -- 42P17
        CREATE TABLE g40 (a jsonb, g int GENERATED ALWAYS AS ((a->>'x')::int) STORED);
        CREATE TABLE g41 (a date, b date, g int GENERATED ALWAYS AS (date_part('year', age(a, b))) STORED); -- 42P17
        CREATE TABLE g42 (a timestamp, g interval GENERATED ALWAYS AS (age(a)) STORED); -- 42P17
        CREATE TABLE g43 (a text, g text GENERATED ALWAYS AS (upper(a) COLLATE "C") STORED);
        CREATE TABLE g45 (a text, g bool GENERATED ALWAYS AS (false AND now() > '2020-01-01') STORED);
        CREATE TABLE g46 (a text, g timestamptz GENERATED ALWAYS AS ('2020-01-01 00:00:00+00'::timestamptz) STORED);
        CREATE TABLE g48 (a text, g timestamptz GENERATED ALWAYS AS (timezone(NULL, now())) STORED);
        CREATE TABLE g49 (a timestamp, g timestamptz GENERATED ALWAYS AS (a AT TIME ZONE 'utc') STORED);
        CREATE TABLE g50 (a timestamp, g timestamptz GENERATED ALWAYS AS (a) STORED);
        CREATE TABLE g51 (a timestamp, g text GENERATED ALWAYS AS (a || NULL::text) STORED);
    """,
    "partition keys": r"""
        CREATE TABLE p1 (id int, t p1) PARTITION BY LIST (id); -- 42704
        CREATE TABLE p2 (id int, a text) PARTITION BY LIST (lower(a));
        CREATE TABLE p3 (id int, a text) PARTITION BY LIST (lower(a) COLLATE "C");
        CREATE TABLE p4 (id int, a text) PARTITION BY LIST (('x')); -- 42P16
        CREATE TABLE p5 (id int, a text) PARTITION BY RANGE (EXTRACT(year FROM now())); -- 42P17
        CREATE TABLE p6 (id int, d date) PARTITION BY RANGE (EXTRACT(year FROM d));
        CREATE TABLE p7 (id int, d timestamptz) PARTITION BY RANGE (EXTRACT(year FROM d)); -- 42P17
        CREATE TABLE p8 (id int, d timestamptz) PARTITION BY RANGE ((d AT TIME ZONE 'UTC'));
        CREATE TABLE p9 (id int, d timestamptz) PARTITION BY RANGE ((d::date)); -- 42P17
        CREATE TYPE e AS ENUM ('a');
        CREATE TYPE c AS (x int);
        CREATE DOMAIN dj AS json;
        CREATE DOMAIN dt AS text;
        CREATE TABLE p10 (id e) PARTITION BY LIST (id);
        CREATE TABLE p11 (id c) PARTITION BY RANGE (id);
        CREATE TABLE p12 (id dj) PARTITION BY RANGE (id); -- 42704
        CREATE TABLE p13 (id dt) PARTITION BY HASH (id);
        CREATE TABLE p14 (id int[]) PARTITION BY HASH (id);
        CREATE TABLE p15 (id json[]) PARTITION BY HASH (id);
        CREATE TABLE p16 (id inet) PARTITION BY HASH (id);
        CREATE TABLE p17 (id money) PARTITION BY HASH (id); -- 42704
        CREATE TABLE p18 (id money) PARTITION BY RANGE (id);
        CREATE TABLE p19 (id xml) PARTITION BY RANGE (id); -- 42704
        CREATE TABLE p20 (id point) PARTITION BY RANGE (id); -- 42704
        CREATE TABLE p21 (id int4range) PARTITION BY RANGE (id);
        CREATE TABLE p22 (id tsvector) PARTITION BY HASH (id); -- 42704
        CREATE TABLE p23 (id bit(3)) PARTITION BY HASH (id); -- 42704
        CREATE TABLE p24 (id bit(3)) PARTITION BY RANGE (id);
        CREATE TABLE p25 (id xid) PARTITION BY RANGE (id); -- 42704
        CREATE TABLE p26 (id xid) PARTITION BY HASH (id);
        CREATE TABLE p27 (id oid) PARTITION BY HASH (id);
        CREATE TABLE p28 (id regclass) PARTITION BY HASH (id);
        CREATE TABLE p29 (id interval, t time, tz timetz) PARTITION BY RANGE (id, t, tz);
        CREATE TABLE p30 (id uuid, "c" "char", n name) PARTITION BY RANGE (id, "c", n);
        CREATE TABLE p31 (id int, g int GENERATED ALWAYS AS (id) STORED) PARTITION BY RANGE ((g + 1)); -- 42P17
        CREATE FUNCTION im(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'select $1';
        CREATE FUNCTION vo(int) RETURNS int LANGUAGE sql AS 'select $1';
        CREATE FUNCTION pl(int) RETURNS int LANGUAGE plpgsql AS 'begin return 1; end';
        CREATE TABLE p32 (id int) PARTITION BY RANGE (im(id));
        CREATE TABLE p33 (id int) PARTITION BY RANGE (vo(id));
        CREATE TABLE p34 (id int) PARTITION BY RANGE (pl(id)); -- 42P17
        CREATE TABLE p35 (id int) PARTITION BY RANGE (abs(id));
        CREATE TABLE p36 (id int) PARTITION BY RANGE ((id % 10));
        CREATE TABLE p37 (id int) PARTITION BY RANGE ((p37.id));
        CREATE TABLE p38 (id int) PARTITION BY RANGE ((id COLLATE "C")); -- 42804
        CREATE TABLE p39 (id text) PARTITION BY RANGE ((id COLLATE "C"));
        CREATE TABLE p40 (id text) PARTITION BY RANGE (id text_pattern_ops);
        CREATE TABLE p42 (id int) PARTITION BY RANGE (tableoid); -- 42P17
        CREATE TABLE p43 (id int) PARTITION BY RANGE ((tableoid)); -- 42P17
        CREATE TABLE p44 (id int) PARTITION BY RANGE ((id::text));
        CREATE TABLE p45 (j jsonb) PARTITION BY HASH (j);
        CREATE TABLE p46 (j jsonb) PARTITION BY LIST (((j->>'k')::int));
        CREATE TABLE p47 (a int, b int) PARTITION BY RANGE ((a+b), (CASE WHEN a > 0 THEN 1 ELSE 2 END));
        CREATE TABLE p48 (a date) PARTITION BY LIST (to_char(a, 'YYYY')); -- 42P17
        CREATE TABLE p49 (a date) PARTITION BY LIST ((a::text)); -- 42P17
        CREATE TABLE p50 (a int, b text) PARTITION BY LIST ((b || a));
        CREATE TABLE p53 (id int) PARTITION BY LIST ((NULL)); -- 42P16
        CREATE TABLE p54 (id int) PARTITION BY LIST ((1+1)); -- 42P17
        CREATE TABLE p55 (id int) PARTITION BY LIST ((p55 IS NULL));
        CREATE TABLE p56 (id int, a text[]) PARTITION BY LIST ((a[1]));
    """,
    "what they use stands in the way": r"""
        CREATE COLLATION german (provider = icu, locale = 'de-DE');
        CREATE TABLE t (id int PRIMARY KEY, label text COLLATE german);
        DROP COLLATION german; -- 2BP01
        ALTER TABLE t ALTER label TYPE varchar;
        DROP COLLATION german;
        CREATE FUNCTION f(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0';
        ALTER TABLE t ADD CHECK (f(id));
        DROP FUNCTION f(int); -- 2BP01
        CREATE INDEX ix ON t (f(id));
        DROP FUNCTION f; -- 2BP01
        ALTER TABLE t ADD n int DEFAULT abs(1);
        CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 1';
        ALTER TABLE t ADD o int DEFAULT g();
        DROP FUNCTION g(); -- 2BP01
        CREATE POLICY po ON t USING (f(id));
        CREATE VIEW v AS SELECT f(id) FROM t;
        DROP VIEW v;
        ALTER TABLE t DROP CONSTRAINT t_id_check;
        DROP INDEX ix;
        DROP FUNCTION f(int); -- 2BP01
        DROP POLICY po ON t;
        DROP FUNCTION f(int);
        ALTER TABLE t ALTER o DROP DEFAULT;
        DROP FUNCTION g();
        CREATE FUNCTION im(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
        CREATE TABLE u (id int, a int DEFAULT im(1), b int GENERATED ALWAYS AS (im(id)) STORED);
        ALTER TABLE u ADD c int CHECK (im(c) > 0);
        CREATE TABLE uk (x int) INHERITS (u);
        CREATE INDEX ui ON u (im(a));
        DROP FUNCTION im(int); -- 2BP01
        DROP FUNCTION im(int) CASCADE;
        DROP INDEX ui; -- 42704
        ALTER TABLE u DROP CONSTRAINT u_c_check; -- 42704
        CREATE COLLATION gg FROM "C";
        CREATE TABLE w (id int PRIMARY KEY, t text COLLATE gg, v varchar COLLATE gg);
        ALTER TABLE w ADD z text COLLATE gg;
        ALTER TABLE w DROP COLUMN t, ALTER v TYPE text;
        DROP COLLATION gg; -- 2BP01
        ALTER TABLE w ALTER z TYPE text COLLATE "C";
        DROP COLLATION gg;
        CREATE COLLATION gg FROM "C";
        ALTER TABLE w ADD y text COLLATE gg;
        DROP COLLATION gg CASCADE;
        ALTER TABLE w DROP COLUMN y; -- 42703
    """,
    "functions of the row, written as columns": r"""
        CREATE TABLE t (id int PRIMARY KEY, x int NOT NULL);
        CREATE FUNCTION total(t) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT $1.id + $1.x $$;
        CREATE FUNCTION label(t) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1.id::text $$;
        ALTER TABLE t ADD CHECK (t.total > 0);
        ALTER TABLE t ADD COLUMN q int, ADD CHECK (t.total > 0);
        ALTER TABLE t ADD COLUMN r int, ADD CHECK (t.label > 0); -- 42883
        CREATE UNIQUE INDEX i1 ON t ((t.total));
        ALTER TABLE t REPLICA IDENTITY USING INDEX i1; -- 0A000
        CREATE INDEX i2 ON t ((t.total + 1)) WHERE t.total > 3;
        CREATE INDEX i3 ON t ((t.total + 1));
        CREATE INDEX i4 ON t (id) WHERE t.total > 3;
        CREATE INDEX i5 ON t ((t.x));
        CREATE INDEX i6 ON t ((t.nope)); -- 42703
        CREATE INDEX i8 ON t ((t.label COLLATE "C"));
        CREATE INDEX i9 ON t (lower(t.label) text_pattern_ops);
        CREATE INDEX i10 ON t ((t.label)) WHERE t.label; -- 42804
        CREATE TABLE u (id int, x text, CHECK (u.total > 0)); -- 42703
        DROP INDEX i1, i2, i3, i4, i5, i8, i9;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE t (id uuid DEFAULT uuid_generate_v4() PRIMARY KEY)",
        "CREATE TABLE t (id int DEFAULT app.next(1) PRIMARY KEY)",
        "CREATE TABLE t (id int PRIMARY KEY CHECK (valid(id)))",
        "CREATE TABLE t (id int PRIMARY KEY, a citext CHECK (a <> 5))",
        "CREATE TABLE t (id int PRIMARY KEY, a text CHECK (a COLLATE nosuch > 'x'))",
        "CREATE TABLE t (id int PRIMARY KEY) USING columnar",
        "CREATE TABLE t (id int PRIMARY KEY) TABLESPACE fast",
        "CREATE TABLE t (id int PRIMARY KEY) WITH (columnar.compression = lz4)",
    ],
)
def test_what_something_not_seen_may_have_made_is_not_refused(table: str) -> None:
    assert lint(f"{table}; CREATE PUBLICATION p FOR TABLE t") == []


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE t (id int PRIMARY KEY DEFAULT LOCALTIME)",
        "CREATE TABLE t (id int PRIMARY KEY CHECK (id))",
        "CREATE TABLE t (id int PRIMARY KEY) WITH (nosuch = 1)",
        "CREATE TABLE t (id int, PRIMARY KEY (id) WITH (fillfactor = 5))",
    ],
)
def test_a_table_that_is_not_made_is_no_member(table: str) -> None:
    findings = lint(f"{table}; CREATE PUBLICATION p FOR TABLE t", complete=True)
    assert [finding.server.sqlstate for finding in findings if finding.server] == ["42P01"]
