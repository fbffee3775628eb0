"""Expressions, predicates, collations and operator classes of indexes: which of them the server refuses."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

REFUSED = r"""
CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text NOT NULL, c timestamptz NOT NULL, j json, jb jsonb);
ALTER TABLE t ADD arr int[], ADD p point, ADD d date NOT NULL, ADD u uuid NOT NULL, ADD x xml, ADD r int4range;
ALTER TABLE t ADD ip inet NOT NULL, ADD v varchar(20) NOT NULL;
CREATE INDEX i1 ON t (b text_pattern_ops);
CREATE INDEX i2 ON t (b nope_ops); -- 42704
CREATE INDEX i3 ON t (a text_pattern_ops); -- 42804
CREATE INDEX i4 ON t (a text_ops); -- 42804
CREATE INDEX i5 ON t USING gin (jb jsonb_path_ops);
CREATE INDEX i8 ON t (now()); -- 42P17
CREATE INDEX i9 ON t ((c::date)); -- 42P17
CREATE INDEX i10 ON t (date_trunc('day', c)); -- 42P17
CREATE INDEX i11 ON t (lower(b));
CREATE INDEX i12 ON t (lower(a)); -- 42883
CREATE INDEX i13 ON t (nofunc(b)); -- 42883
CREATE INDEX i14 ON t ((a + b)); -- 42883
CREATE INDEX i15 ON t ((jb ->> 'x'));
CREATE INDEX i16 ON t ((jb -> 'x'));
CREATE INDEX i17 ON t ((j -> 'x')); -- 42704
CREATE INDEX i18 ON t ((j ->> 'x'));
CREATE INDEX i19 ON t (a) WHERE c > now(); -- 42P17
CREATE INDEX i20 ON t (a) WHERE b; -- 42804
CREATE INDEX i21 ON t (a) WHERE a > 'x'; -- 22P02
CREATE INDEX i22 ON t (a) WHERE nope > 1; -- 42703
CREATE INDEX i23 ON t ((to_char(c, 'YYYY'))); -- 42P17
CREATE INDEX i24 ON t (to_tsvector(b)); -- 42P17
CREATE INDEX i25 ON t USING gin (to_tsvector('english', b));
CREATE INDEX i26 ON t (concat(a, b)); -- 42P17
CREATE INDEX i27 ON t ((a || b));
CREATE INDEX i28 ON t (count(*)); -- 42803
CREATE INDEX i29 ON t ((sum(a))); -- 42803
CREATE INDEX i30 ON t (((SELECT 1))); -- 0A000
CREATE INDEX i31 ON t (generate_series(1, a)); -- 0A000
CREATE INDEX i32 ON t ((row_number() OVER ())); -- 42P20
CREATE INDEX i33 ON t (a) WHERE (SELECT true); -- 0A000
CREATE INDEX i34 ON t (a) WHERE count(*) > 1; -- 42803
CREATE UNIQUE INDEX k1 ON t (a int4_ops);
CREATE UNIQUE INDEX k2 ON t (a int8_ops); -- 42804
CREATE UNIQUE INDEX k3 ON t (b text_pattern_ops);
CREATE UNIQUE INDEX k4 ON t (v varchar_pattern_ops);
CREATE UNIQUE INDEX k5 ON t (v text_ops);
CREATE UNIQUE INDEX k6 ON t (b varchar_ops);
CREATE UNIQUE INDEX k7 ON t (b bpchar_ops);
CREATE UNIQUE INDEX k8 ON t (c timestamptz_ops);
CREATE UNIQUE INDEX k9 ON t (c timestamp_ops); -- 42804
CREATE UNIQUE INDEX k10 ON t (jb jsonb_ops);
CREATE UNIQUE INDEX k11 ON t (jb jsonb_path_ops); -- 42704
CREATE UNIQUE INDEX k12 ON t (u uuid_ops, ip inet_ops);
CREATE UNIQUE INDEX k13 ON t (ip cidr_ops);
CREATE UNIQUE INDEX k14 ON t (b COLLATE "C" text_pattern_ops);
CREATE UNIQUE INDEX k15 ON t (a COLLATE "C"); -- 42804
CREATE UNIQUE INDEX k16 ON t (b COLLATE "nope"); -- 42704
CREATE UNIQUE INDEX k17 ON t (id) INCLUDE (lower(b)); -- 0A000
CREATE UNIQUE INDEX k18 ON t (lower(b));
CREATE UNIQUE INDEX k19 ON t (d) WHERE d > CURRENT_DATE; -- 42P17
CREATE UNIQUE INDEX k20 ON t (b pg_catalog.text_ops);
CREATE UNIQUE INDEX k21 ON t (b public.text_ops); -- 42704
CREATE UNIQUE INDEX k22 ON t (b nos.text_ops); -- 3F000
CREATE UNIQUE INDEX k23 ON t (j); -- 42704
CREATE UNIQUE INDEX k24 ON t (p); -- 42704
CREATE UNIQUE INDEX k25 ON t (x); -- 42704
CREATE UNIQUE INDEX k26 ON t (a) INCLUDE (j, p);
ALTER TABLE t ADD CONSTRAINT e1 EXCLUDE USING gist (a WITH =); -- 42704
ALTER TABLE t ADD CONSTRAINT e2 EXCLUDE USING gist (r WITH &&);
ALTER TABLE t ADD CONSTRAINT e4 EXCLUDE (a WITH =);
ALTER TABLE t ADD CONSTRAINT e6 EXCLUDE USING hash (a WITH =);
ALTER TABLE t ADD CONSTRAINT e7 EXCLUDE USING gist (p WITH ~=);
ALTER TABLE t ADD CONSTRAINT e9 EXCLUDE USING gist (r WITH =, b WITH =); -- 42704
ALTER TABLE t ADD CONSTRAINT e10 EXCLUDE USING gist (tsrange(a, a) WITH &&); -- 42883
ALTER TABLE t ADD CONSTRAINT e11 EXCLUDE USING gist (tstzrange(c, c) WITH &&);
ALTER TABLE t ADD CONSTRAINT e12 EXCLUDE USING gist (daterange(d, d + 1, '[]') WITH &&) WHERE (a > 0);
ALTER TABLE t ADD CONSTRAINT e13 EXCLUDE USING gin (arr WITH &&); -- 0A000
ALTER TABLE t ADD CONSTRAINT e15 EXCLUDE USING gist (r range_ops WITH &&);
ALTER TABLE t ADD CONSTRAINT e16 EXCLUDE USING gist (ip inet_ops WITH &&);
ALTER TABLE t ADD CONSTRAINT e17 EXCLUDE USING gist (ip WITH &&); -- 42704
ALTER TABLE t ADD CONSTRAINT u1 UNIQUE (j); -- 42704
ALTER TABLE t ADD CONSTRAINT u2 UNIQUE (p); -- 42704
CREATE INDEX z1 ON t USING brin (b);
CREATE INDEX z3 ON t USING brin (c timestamptz_minmax_ops);
CREATE INDEX z5 ON t USING hash (jb);
CREATE INDEX z7 ON t USING hash (b text_pattern_ops);
CREATE INDEX z8 ON t USING spgist (b);
CREATE INDEX z10 ON t USING spgist (p kd_point_ops);
CREATE INDEX z11 ON t USING gin (b); -- 42704
CREATE INDEX z12 ON t USING gin (arr array_ops);
CREATE INDEX z13 ON t USING gist (ip inet_ops);
CREATE INDEX z14 ON t USING gist (ip); -- 42704
CREATE INDEX z15 ON t USING hash (a, b); -- 0A000
CREATE INDEX z17 ON t USING gin (jb jsonb_path_ops) INCLUDE (a); -- 0A000
CREATE INDEX z18 ON t USING nope (a); -- 42704
CREATE INDEX z19 ON t USING hash (a DESC); -- 0A000
CREATE INDEX z20 ON t USING gin (jb NULLS FIRST); -- 0A000
CREATE INDEX z21 ON t ((a = 1));
CREATE INDEX z22 ON t ((ROW(a, b))); -- 42P16
CREATE INDEX z23 ON t ((b::nope)); -- 42704
CREATE INDEX z24 ON t ((a::text));
CREATE INDEX z25 ON t ((c AT TIME ZONE 'UTC'));
CREATE INDEX z26 ON t ((extract(year from c))); -- 42P17
CREATE INDEX z27 ON t ((extract(epoch from c))); -- 42P17
CREATE INDEX z28 ON t ((extract(year from d)));
CREATE INDEX z29 ON t (md5(b));
CREATE INDEX z30 ON t (md5(a::text || b));
CREATE INDEX z31 ON t ((d::text)); -- 42P17
CREATE INDEX z32 ON t ((b::date)); -- 42P17
CREATE INDEX z33 ON t (length(b), upper(v));
CREATE INDEX z34 ON t (age(c)); -- 42P17
CREATE INDEX z35 ON t (random()); -- 42P17
CREATE INDEX z36 ON t ((t));
CREATE INDEX z37 ON t ((t.*));
CREATE INDEX z38 ON t (COALESCE(b, 'x'), NULLIF(a, 1));
CREATE INDEX z39 ON t ((CASE WHEN a > 1 THEN b ELSE v END));
CREATE INDEX z40 ON t (a, nope); -- 42703
"""
TAKEN = r"""
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE comp AS (a int, b text);
CREATE DOMAIN email AS text CHECK (VALUE <> '');
CREATE DOMAIN pos AS int;
CREATE TABLE t (id bigint PRIMARY KEY, a int NOT NULL, b text NOT NULL, c timestamptz DEFAULT now(), ts timestamp);
ALTER TABLE t ADD jb jsonb, ADD arr int[], ADD tags text[], ADD d date, ADD u uuid, ADD r int4range, ADD tr tstzrange;
ALTER TABLE t ADD ip inet, ADD ci cidr, ADD v varchar(20), ADD ch char(2), ADD m mood, ADD e email, ADD po pos;
ALTER TABLE t ADD co comp, ADD n numeric(10,2), ADD f double precision, ADD bo boolean, ADD iv interval, ADD t time;
ALTER TABLE t ADD tsv tsvector, ADD mac macaddr, ADD bits bit(3), ADD by bytea, ADD mr int4multirange, ADD ma mood[];
ALTER TABLE t ADD nm name, ADD o oid, ADD x xid8;
CREATE FUNCTION im(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)';
CREATE FUNCTION vo(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION st(text) RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION sq(text) RETURNS text LANGUAGE sql AS 'SELECT lower($1)';
CREATE FUNCTION imr(t) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1.b';
CREATE FUNCTION f_concat(text, VARIADIC text[]) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT array_to_string($2, $1)';
CREATE INDEX a1 ON t (im(b));
CREATE INDEX a2 ON t (vo(b)); -- 42P17
CREATE INDEX a3 ON t (st(b)); -- 42P17
CREATE INDEX a4 ON t (sq(b));
CREATE INDEX a5 ON t (imr(t)); -- 42883
CREATE INDEX a6 ON t (imr(t.*));
CREATE INDEX a7 ON t (f_concat(' ', b, v));
CREATE INDEX a8 ON t (lower(e));
CREATE INDEX a9 ON t (lower(v) varchar_pattern_ops);
CREATE INDEX a10 ON t (lower(b) text_pattern_ops);
CREATE INDEX a11 ON t (e text_pattern_ops);
CREATE INDEX a12 ON t (v text_pattern_ops, ch bpchar_pattern_ops, b varchar_pattern_ops);
CREATE INDEX a13 ON t (m enum_ops, arr array_ops, r range_ops, mr multirange_ops, ma array_ops);
CREATE INDEX a14 ON t (po int4_ops, e text_ops, nm name_ops, nm text_ops, ci inet_ops, ci cidr_ops); -- 42804
CREATE INDEX a15 ON t ((jb ->> 'a'), ((jb -> 'b') ->> 'c'), ((jb ->> 'n')::int), (jb #>> '{a,b}'));
CREATE INDEX a16 ON t (((jb ->> 'd')::date)); -- 42P17
CREATE INDEX a17 ON t (((jb ->> 'd')::timestamp)); -- 42P17
CREATE INDEX a18 ON t (((jb ->> 'd')::timestamptz)); -- 42P17
CREATE INDEX a20 ON t ((c AT TIME ZONE 'UTC'));
CREATE INDEX a21 ON t (((c AT TIME ZONE 'UTC')::date));
CREATE INDEX a22 ON t ((d + 1), (d - d), (ts + interval '1 day'), (c + interval '1 hour')); -- 42P17
CREATE INDEX a23 ON t ((ts::date), (a::text), (a || ''), (n::text), (u::text), (bo::text), (v || b), (b || a));
CREATE INDEX a24 ON t ((m::text)); -- 42P17
CREATE INDEX a25 ON t ((ip::text), host(ip), (b::inet));
CREATE INDEX a26 ON t (COALESCE(v, b, ''), GREATEST(a, 1), NULLIF(b, ''), (CASE WHEN bo THEN 1 ELSE 0 END));
CREATE INDEX a27 ON t ((a IS NULL), (b LIKE 'x%'), (b ~ 'x'), (a IN (1,2)), (a = ANY (arr)), (NOT bo));
CREATE INDEX a28 ON t (a) WHERE c > '2024-01-01';
CREATE INDEX a29 ON t (a) WHERE c > '2024-01-01'::timestamptz;
CREATE INDEX a30 ON t (a) WHERE d > '2024-01-01' AND m = 'sad' AND m IN ('ok', 'sad');
CREATE INDEX a31 ON t (a) WHERE c > now() - interval '1 day'; -- 42P17
CREATE INDEX a32 ON t (a) WHERE b ILIKE '%x%' OR length(b) > 5 OR jb ? 'a' OR jb @> '{"a": 1}';
CREATE INDEX a33 ON t (a) WHERE ((b)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]));
CREATE INDEX a34 ON t (a) WHERE e = 'x@y' AND po > 5 AND v = 'q' AND ch = 'ab';
CREATE INDEX a35 ON t (a) WHERE bo IS TRUE AND bo AND NOT bo AND bo IS NOT DISTINCT FROM true;
CREATE INDEX a36 ON t (a) WHERE tags @> ARRAY['x'] AND 'x' = ANY (tags) AND array_length(tags, 1) > 0;
CREATE INDEX a37 ON t (a) WHERE r && '[1,2)'::int4range AND lower(r) > 1 AND NOT isempty(r);
CREATE INDEX a38 ON t (a) WHERE tr && tstzrange('2024-01-01', '2024-02-01');
CREATE INDEX a39 ON t (a) WHERE c < CURRENT_TIMESTAMP; -- 42P17
CREATE INDEX a40 ON t (a) WHERE im(b) = 'x';
CREATE INDEX a41 ON t (a) WHERE st(b) = 'x'; -- 42P17
CREATE INDEX a42 ON t (a) WHERE b = current_user; -- 42P17
CREATE INDEX a43 ON t (a) WHERE u = gen_random_uuid(); -- 42P17
CREATE INDEX a44 ON t (a) WHERE iv > interval '1 day' AND t > '10:00' AND by = '\x00' AND f > 1.5 AND n > 1.5;
CREATE INDEX a45 ON t USING gin (to_tsvector('english', b), to_tsvector('simple'::regconfig, v));
CREATE INDEX a46 ON t USING gin (to_tsvector('english', coalesce(b, '') || ' ' || coalesce(v, '')));
CREATE INDEX a47 ON t USING gin (tags, jb, arr);
CREATE INDEX a48 ON t USING gin ((jb -> 'tags') jsonb_path_ops);
CREATE INDEX a49 ON t USING gist (tr, r range_ops);
CREATE INDEX a50 ON t USING gist (tstzrange(c, c + interval '1 hour')); -- 42P17
CREATE INDEX a51 ON t USING gist (int4range(a, a + 1));
CREATE INDEX a52 ON t USING brin (c, d, a) WITH (pages_per_range = 32);
CREATE INDEX a53 ON t USING hash (lower(b));
CREATE INDEX a54 ON t (md5(b), encode(by, 'hex'), sha256(by), left(b, 10), substring(b from 1 for 5));
CREATE INDEX a541 ON t (split_part(b, '@', 2), reverse(b), regexp_replace(b, '\s', '', 'g'), abs(a), round(n));
CREATE INDEX a55 ON t (to_char(d, 'YYYY')); -- 42P17
CREATE INDEX a56 ON t (to_char(ts, 'YYYY-MM')); -- 42P17
CREATE INDEX a57 ON t (to_char(a, '999')); -- 42P17
CREATE INDEX a58 ON t (to_date(b, 'YYYY')); -- 42P17
CREATE INDEX a59 ON t (format('%s-%s', a, b)); -- 42P17
CREATE INDEX a60 ON t (concat_ws(' ', b, v)); -- 42P17
CREATE INDEX a61 ON t (array_to_string(tags, ',')); -- 42P17
CREATE INDEX a62 ON t (jsonb_array_length(jb), jsonb_typeof(jb), jsonb_extract_path_text(jb, 'a'));
CREATE INDEX a64 ON t (((co).a), ((co).b));
CREATE INDEX a65 ON t ((arr[1]), (tags[1]));
CREATE INDEX a66 ON t (lower(b COLLATE "C"), (b COLLATE "C"), b COLLATE "POSIX" DESC NULLS LAST);
CREATE INDEX a67 ON t (date(c)); -- 42P17
CREATE INDEX a68 ON t (date(ts));
CREATE INDEX a69 ON t ((c::date)); -- 42P17
CREATE INDEX a70 ON t (timezone('UTC', c));
CREATE INDEX a71 ON t (age(ts, ts));
CREATE INDEX a72 ON t (make_date(a, 1, 1), to_timestamp(f));
CREATE INDEX a73 ON t (hashtext(b), uuid_send(u));
CREATE INDEX a74 ON t ((lower(b)), (upper(v)));
CREATE INDEX a76 ON t ((ctid)); -- 0A000
CREATE INDEX a77 ON t (a) WHERE xmin IS NOT NULL; -- 0A000
CREATE INDEX a78 ON t (a) WHERE tableoid IS NOT NULL; -- 0A000
CREATE INDEX a79 ON t (a) WHERE a; -- 42804
CREATE INDEX a80 ON t (a) WHERE NULL;
CREATE INDEX a81 ON t (a) WHERE true;
CREATE INDEX a82 ON t (('x')); -- 42704
CREATE INDEX a83 ON t ((NULL)); -- 42704
CREATE INDEX a84 ON t ((1));
CREATE INDEX a85 ON t ((t.a + 1), (public.t.a));
CREATE INDEX a86 ON t ((s.a + 1)); -- 42P01
CREATE UNIQUE INDEX ON t (b text_pattern_ops);
CREATE UNIQUE INDEX ON t (lower(b), a) WHERE c IS NOT NULL;
CREATE TABLE par (a int) PARTITION BY LIST (a);
CREATE INDEX CONCURRENTLY ON par (a); -- 0A000
"""
OF_EXTENSIONS = r"""
CREATE EXTENSION citext;
CREATE EXTENSION pg_trgm;
CREATE EXTENSION btree_gin;
CREATE EXTENSION btree_gist;
CREATE EXTENSION unaccent;
CREATE EXTENSION hstore;
CREATE EXTENSION ltree;
CREATE TABLE t (id int PRIMARY KEY, e citext NOT NULL, b text NOT NULL, h hstore, l ltree NOT NULL, a int NOT NULL);
CREATE UNIQUE INDEX x1 ON t (e);
CREATE UNIQUE INDEX x2 ON t (e citext_ops);
CREATE UNIQUE INDEX x3 ON t (e text_ops);
CREATE UNIQUE INDEX x4 ON t (e citext_pattern_ops);
CREATE UNIQUE INDEX x5 ON t (lower(e));
CREATE UNIQUE INDEX x6 ON t (lower(e::text));
CREATE INDEX x7 ON t (unaccent(b)); -- 42P17
CREATE INDEX x8 ON t USING gin (b gin_trgm_ops);
CREATE INDEX x9 ON t USING gist (a, b gist_trgm_ops);
CREATE INDEX x10 ON t USING gin (a, b);
CREATE UNIQUE INDEX x11 ON t (l);
CREATE UNIQUE INDEX x12 ON t (l ltree_ops);
CREATE INDEX x13 ON t ((h -> 'a'));
CREATE INDEX x14 ON t (similarity(b, 'x'));
CREATE INDEX x15 ON t (nlevel(l));
CREATE INDEX x16 ON t (a) WHERE e = 'x';
CREATE INDEX x17 ON t (a) WHERE h ? 'x' AND l <@ 'a.b';
CREATE INDEX x18 ON t (a) WHERE b % 'x'; -- 42P17
CREATE INDEX x19 ON t (h);
CREATE INDEX x20 ON t (h btree_hstore_ops);
CREATE INDEX x22 ON t (now()); -- 42P17
"""


@pytest.mark.parametrize("script", [REFUSED, TAKEN, OF_EXTENSIONS], ids=["refused", "taken", "of extensions"])
class TestScripts(AnnotatedScripts): ...
