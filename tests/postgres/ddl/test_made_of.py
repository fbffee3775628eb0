"""What columns, foreign keys, sequences and types are made of, as people write it, well or ill."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "storage, foreign keys, sequences, types and queries": r"""
        CREATE TABLE b (a int, c text, PRIMARY KEY (a, c));
        CREATE TABLE a1 (x int COMPRESSION pglz); -- 0A000
        CREATE TABLE a2 (x text COMPRESSION pglz);
        CREATE TABLE a3 (x text COMPRESSION nosuch); -- 22023
        CREATE TABLE a4 (x text COMPRESSION default);
        CREATE TABLE a5 (x int COMPRESSION default);
        CREATE TABLE a6 (x int COMPRESSION nosuch); -- 0A000
        CREATE TABLE a7 (x uuid COMPRESSION pglz); -- 0A000
        CREATE TABLE a8 (x numeric COMPRESSION pglz);
        CREATE TABLE a9 (x int[] COMPRESSION pglz);
        CREATE TABLE a10 (x text COMPRESSION PGLZ);
        CREATE TABLE a11 (x text COMPRESSION "PGLZ"); -- 22023
        CREATE TYPE e AS ENUM ('a');
        CREATE DOMAIN di AS int;
        CREATE DOMAIN dt AS text;
        CREATE TABLE a12 (x e COMPRESSION pglz); -- 0A000
        CREATE TABLE a13 (x di COMPRESSION pglz); -- 0A000
        CREATE TABLE a14 (x dt COMPRESSION pglz);
        CREATE TABLE a15 (x name COMPRESSION pglz); -- 0A000
        CREATE TABLE a16 (x oidvector COMPRESSION pglz); -- 0A000
        ALTER TABLE b ALTER a SET COMPRESSION pglz; -- 0A000
        ALTER TABLE b ALTER c SET COMPRESSION pglz;
        ALTER TABLE b ALTER c SET COMPRESSION nosuch; -- 22023
        ALTER TABLE b ALTER c SET COMPRESSION default;
        ALTER TABLE b ALTER a SET COMPRESSION default;
        ALTER TABLE b ALTER nosuch SET COMPRESSION pglz; -- 42703
        ALTER TABLE b ALTER a SET STORAGE external; -- 0A000
        ALTER TABLE b ALTER a SET STORAGE plain;
        ALTER TABLE b ALTER a SET STORAGE default; -- 15: 42601
        ALTER TABLE b ALTER c SET STORAGE external;
        ALTER TABLE b ALTER c SET STORAGE nosuch; -- 22023
        ALTER TABLE b ALTER nosuch SET STORAGE plain; -- 42703
        ALTER TABLE b ALTER nosuch SET STATISTICS 5; -- 42703
        ALTER TABLE b ALTER c SET STATISTICS 5;
        ALTER TABLE b ALTER 1 SET STATISTICS 5; -- 0A000
        ALTER TABLE b ADD COLUMN z1 int COMPRESSION pglz; -- 0A000
        ALTER TABLE b ADD COLUMN z2 text COMPRESSION pglz;
        CREATE TABLE s1 (x int STORAGE plain); -- 15: 42601
        CREATE TABLE s2 (x int STORAGE main); -- 15: 42601, 16: 0A000, 17: 0A000, 18: 0A000
        CREATE TABLE s3 (x text STORAGE main); -- 15: 42601
        CREATE TABLE s4 (x text STORAGE nosuch); -- 15: 42601, 16: 22023, 17: 22023, 18: 22023
        CREATE TABLE s5 (x int STORAGE default); -- 15: 42601
        CREATE TABLE s6 (x text STORAGE "MAIN"); -- 15: 42601
        CREATE TABLE s7 (x numeric STORAGE external); -- 15: 42601
        CREATE TABLE f1 (a int, c text, FOREIGN KEY (a, c) REFERENCES b ON DELETE SET NULL (a));
        CREATE TABLE f2 (a int, c text, FOREIGN KEY (a, c) REFERENCES b ON DELETE SET NULL (nosuch)); -- 42703
        CREATE TABLE f3 (a int, c text, z int, FOREIGN KEY (a, c) REFERENCES b ON DELETE SET NULL (z)); -- 42P10
        CREATE TABLE f4 (a int, c text, FOREIGN KEY (a, c) REFERENCES b ON DELETE SET DEFAULT (a, c));
        CREATE TABLE f5 (a int, c text, FOREIGN KEY (a, nosuch) REFERENCES b); -- 42703
        CREATE TABLE f6 (a int, c text, FOREIGN KEY (a, c) REFERENCES b (a, nosuch)); -- 42703
        CREATE TABLE f7 (a int, c text, FOREIGN KEY (a, c) REFERENCES b (c, a)); -- 42804
        CREATE TABLE f8 (a int, c text, FOREIGN KEY (a) REFERENCES b (a)); -- 42830
        CREATE TABLE f9 (a bigint, c varchar, FOREIGN KEY (a, c) REFERENCES b (a, c));
        CREATE TABLE f10 (a uuid, c varchar, FOREIGN KEY (a, c) REFERENCES b (a, c)); -- 42804
        CREATE TABLE f11 (a date, c varchar, FOREIGN KEY (a, c) REFERENCES b (a, c)); -- 42804
        CREATE TABLE f14 (a int GENERATED ALWAYS AS (5) STORED, c text, FOREIGN KEY (a, c) REFERENCES b);
        CREATE TABLE f15 (a int, c text, FOREIGN KEY (a, c) REFERENCES b MATCH FULL NOT VALID);
        CREATE TABLE f16 (ctid int); -- 42701
        CREATE TABLE f17 (a timestamptz REFERENCES f4 (a)); -- 42830
        CREATE TABLE f18 (k timestamp PRIMARY KEY);
        CREATE TABLE f19 (k timestamptz REFERENCES f18);
        CREATE TABLE f20 (k date REFERENCES f18);
        CREATE TABLE f21 (k time REFERENCES f18); -- 42804
        CREATE TABLE f22 (k json PRIMARY KEY); -- 42704
        CREATE TABLE f23 (k inet PRIMARY KEY);
        CREATE TABLE f24 (k cidr REFERENCES f23);
        CREATE TABLE f25 (k text REFERENCES f23); -- 42804
        CREATE TABLE f26 (k uuid PRIMARY KEY);
        CREATE TABLE f27 (k text REFERENCES f26); -- 42804
        CREATE TABLE f28 (k varchar(36) REFERENCES f26); -- 42804
        CREATE TABLE f29 (k e PRIMARY KEY);
        CREATE TABLE f30 (k text REFERENCES f29); -- 42804
        CREATE TABLE f31 (k e REFERENCES f29);
        CREATE TABLE f32 (k di REFERENCES b (a)); -- 42830
        CREATE TABLE f33 (k di PRIMARY KEY);
        CREATE TABLE f35 (k text REFERENCES f33); -- 42804
        CREATE TABLE f36 (k boolean PRIMARY KEY);
        CREATE TABLE f37 (k int REFERENCES f36); -- 42804
        CREATE TABLE f38 (k int[] PRIMARY KEY, l jsonb UNIQUE);
        CREATE TABLE f39 (k bigint[] REFERENCES f38); -- 42804
        CREATE TABLE f40 (k json REFERENCES f38 (l)); -- 42804
        CREATE TABLE f41 (k text REFERENCES f38 (l)); -- 42804
        CREATE TABLE f42 (k char(5) PRIMARY KEY);
        CREATE TABLE f43 (k text REFERENCES f42);
        CREATE TABLE f44 (k name REFERENCES f42); -- 42804
        CREATE TABLE r1 (a int, b int CHECK (b > 0) NO INHERIT) PARTITION BY LIST (a); -- 42P16
        CREATE TYPE rj AS RANGE (SUBTYPE = json); -- 42704
        CREATE TYPE rt AS RANGE (SUBTYPE = text, COLLATION = "C");
        CREATE TYPE rn AS RANGE (SUBTYPE = int, COLLATION = "C"); -- 42809
        CREATE SEQUENCE q1 INCREMENT 0; -- 22023
        CREATE SEQUENCE q2 MINVALUE 5 MAXVALUE 5; -- 22023
        CREATE SEQUENCE q3 AS smallint MAXVALUE 40000; -- 22023
        CREATE SEQUENCE q4 START 0; -- 22023
        CREATE SEQUENCE q5 INCREMENT -1;
        CREATE SEQUENCE q6 INCREMENT -1 START 1; -- 22023
        CREATE SEQUENCE q7 CACHE 0; -- 22023
        CREATE SEQUENCE q8 NO MAXVALUE NO MINVALUE CYCLE;
        CREATE SEQUENCE q9 START 1 START 2; -- 42601
        CREATE SEQUENCE q10 AS bigint MAXVALUE 9223372036854775807;
        CREATE SEQUENCE q12 RESTART 5;
        CREATE SEQUENCE q13 AS di; -- 22023
        CREATE SEQUENCE q14 AS numeric; -- 22023
        CREATE TABLE i1 (id int GENERATED ALWAYS AS IDENTITY (START WITH 1000 INCREMENT BY 10));
        CREATE TABLE i2 (id smallint GENERATED ALWAYS AS IDENTITY (START WITH 100000)); -- 22023
        CREATE TABLE i3 (id bigint GENERATED BY DEFAULT AS IDENTITY (MINVALUE -5 START WITH -5 CACHE 20 CYCLE));
        ALTER TABLE i1 ADD y int GENERATED ALWAYS AS IDENTITY (INCREMENT 0); -- 22023
        ALTER TABLE b ALTER a ADD GENERATED ALWAYS AS IDENTITY (INCREMENT 0); -- 22023
        CREATE TABLE o1 OF nosuchtype; -- 42704
        CREATE TYPE addr AS (s text, z int);
        CREATE TABLE o2 OF addr (s NOT NULL, nosuch WITH OPTIONS PRIMARY KEY); -- 42703
        CREATE TABLE o3 OF addr (s NOT NULL, z WITH OPTIONS DEFAULT 'x'); -- 22P02
        CREATE TABLE o4 OF addr (s NOT NULL, PRIMARY KEY (z));
        CREATE TABLE k (a int, b int) PARTITION BY LIST (a);
        CREATE TABLE k1 PARTITION OF k (nosuch DEFAULT 5) FOR VALUES IN (1); -- 42703
        CREATE TABLE k2 PARTITION OF k (b DEFAULT 5) FOR VALUES IN (1);
        CREATE TABLE ct1 AS SELECT a + c AS x FROM b; -- 42883
        CREATE TABLE ct2 AS SELECT lower(a) FROM b; -- 42883
        CREATE TABLE ct3 AS SELECT * FROM b WHERE c = 5; -- 42883
        CREATE TABLE ct4 AS SELECT 'x'::int AS n; -- 22P02
        CREATE TABLE ct5 AS SELECT a, count(*) FROM b; -- 42803
        CREATE TABLE ct6 AS SELECT a, count(*) FROM b GROUP BY a HAVING a; -- 42804
        CREATE TABLE ct7 AS SELECT a FROM b UNION SELECT c FROM b; -- 42804
        CREATE TABLE ct8 AS SELECT a FROM b UNION SELECT 'x'; -- 22P02
        CREATE TABLE ct9 AS SELECT a FROM b JOIN k USING (a);
        CREATE TABLE ct12 AS SELECT nosuchfn(a) FROM b; -- 42883
        CREATE TABLE ct13 AS SELECT generate_series(1, 10) AS g, now() AS n, random();
        CREATE TABLE ct14 AS TABLE b WITH NO DATA;
        CREATE TABLE ct15 AS SELECT a::text || c AS t, a::nosuch FROM b; -- 42704
    """,
    "a table altered": r"""
        CREATE TABLE t (id int PRIMARY KEY, a int, b text, c date, d numeric);
        CREATE PUBLICATION p FOR TABLE t WHERE (a > 5 AND id > 0);
        ALTER TABLE t ALTER COLUMN a TYPE text; -- 0A000
        ALTER TABLE t ALTER COLUMN b TYPE int; -- 42804
        ALTER TABLE t ALTER COLUMN b TYPE int USING b::int;
        ALTER TABLE t ALTER COLUMN c TYPE timestamptz;
        ALTER TABLE t ALTER COLUMN d TYPE int USING (d > 5); -- 42804
        ALTER TABLE t ALTER COLUMN d TYPE int USING (SELECT 1); -- 0A000
        ALTER TABLE t ALTER COLUMN d TYPE int USING count(d); -- 42803
        ALTER TABLE t ALTER COLUMN d TYPE nosuch; -- 42704
        ALTER TABLE t ALTER COLUMN nosuch TYPE int; -- 42703
        ALTER TABLE t ALTER COLUMN d TYPE json USING to_json(d);
        ALTER TABLE t ADD CONSTRAINT chk CHECK (a < 100) NOT VALID;
        ALTER TABLE t VALIDATE CONSTRAINT chk;
        ALTER TABLE t VALIDATE CONSTRAINT nosuch; -- 42704
        ALTER TABLE t DROP CONSTRAINT nosuch; -- 42704
        ALTER TABLE t DROP CONSTRAINT IF EXISTS nosuch;
        ALTER TABLE t ADD CONSTRAINT chk CHECK (a < 100); -- 42710
        ALTER TABLE t ADD CONSTRAINT u UNIQUE (a, b);
        ALTER TABLE t ADD CONSTRAINT u2 UNIQUE USING INDEX nosuch; -- 42704
        CREATE UNIQUE INDEX ui ON t (b);
        ALTER TABLE t ADD CONSTRAINT ui_c UNIQUE USING INDEX ui;
        ALTER TABLE t REPLICA IDENTITY USING INDEX ui; -- 42704
        ALTER TABLE t REPLICA IDENTITY USING INDEX ui_c; -- 42809
        ALTER TABLE t ALTER b SET NOT NULL;
        ALTER TABLE t REPLICA IDENTITY USING INDEX ui_c;
        ALTER TABLE t ALTER b DROP NOT NULL; -- 42P16
        ALTER TABLE t DROP CONSTRAINT ui_c;
        ALTER TABLE t REPLICA IDENTITY FULL;
        UPDATE t SET a = 1;
        ALTER TABLE t RENAME a TO aa;
        ALTER TABLE t RENAME CONSTRAINT chk TO chk2;
        ALTER TABLE t RENAME CONSTRAINT nosuch TO chk3; -- 42704
        ALTER TABLE t SET SCHEMA nosuch; -- 3F000
        CREATE SCHEMA s;
        ALTER TABLE t SET SCHEMA s;
        ALTER TABLE t ADD z int; -- 42P01
        ALTER TABLE s.t ADD z int, ADD z int; -- 42701
        ALTER TABLE s.t ADD z int, DROP COLUMN d, ALTER z SET DEFAULT 'x'; -- 22P02
        ALTER TABLE s.t ADD z int, DROP COLUMN d, ALTER z SET DEFAULT 5;
        ALTER TABLE s.t CLUSTER ON t_pkey, SET WITHOUT CLUSTER, SET WITHOUT OIDS;
        ALTER TABLE s.t DISABLE TRIGGER ALL;
        ALTER TABLE s.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        ALTER TABLE s.t SET LOGGED, SET UNLOGGED; -- 55000
        ALTER TABLE s.t SET UNLOGGED; -- 55000
        ALTER TABLE s.t ALTER z SET STORAGE EXTERNAL; -- 0A000
        ALTER TABLE s.t ALTER b SET STORAGE EXTERNAL, ALTER b SET COMPRESSION lz9; -- 0A000
        ALTER TABLE s.t ALTER b SET STATISTICS 100, ALTER b SET STATISTICS 20000;
        ALTER TABLE s.t ALTER nosuch SET STATISTICS 100; -- 42703
        ALTER TABLE s.t ALTER b SET COMPRESSION lz9; -- 0A000
        ALTER TABLE s.t ALTER z SET COMPRESSION pglz; -- 0A000
        ALTER TABLE s.t INHERIT nosuch; -- 42P01
        ALTER TABLE s.t OF nosuch; -- 42704
        ALTER TABLE s.t DROP COLUMN id; -- 2BP01
        ALTER TABLE s.t DROP COLUMN IF EXISTS nosuch;
        ALTER TABLE IF EXISTS nosuch ADD x int;
        ALTER TABLE s.t RENAME TO pg_class;
        ALTER TABLE s.t RENAME TO "a b"; -- 42P01
        DROP TABLE s."a b"; -- 42P01
    """,
    "expressions that name what is not theirs": r"""
        CREATE DOMAIN d AS int CHECK (t.value > 0); -- 42P01
        CREATE DOMAIN d AS int CHECK (public.t.value > 0); -- 42P01
        CREATE DOMAIN d AS int CHECK (value > 0 AND nosuch); -- 42703
        CREATE TABLE g (a int, b boolean GENERATED ALWAYS AS (g IS NULL) STORED); -- 42P17
        CREATE TABLE g (a text, b boolean GENERATED ALWAYS AS (a COLLATE "C" < a COLLATE "POSIX") STORED); -- 42P21
    """,
    "types and tables of them": r"""
        CREATE TYPE addr AS (street text, zip int);
        CREATE TYPE addr AS (street text); -- 42710
        CREATE TYPE bad AS (a nosuch); -- 42704
        CREATE TYPE e AS ENUM ('a', 'a'); -- 23505
        CREATE TYPE e AS ENUM ();
        ALTER TYPE e ADD VALUE 'b';
        ALTER TYPE e ADD VALUE 'b'; -- 42710
        ALTER TYPE e ADD VALUE IF NOT EXISTS 'b';
        ALTER TYPE e ADD VALUE 'c' BEFORE 'nosuch'; -- 22023
        ALTER TYPE e RENAME VALUE 'nosuch' TO 'x'; -- 22023
        CREATE DOMAIN pos AS int CHECK (VALUE > 0);
        CREATE DOMAIN bad AS int CHECK (VALUE > 'x'); -- 22P02
        CREATE DOMAIN bad AS int CHECK (VALUE); -- 42804
        CREATE DOMAIN bad AS int CHECK (nosuch > 1); -- 42703
        CREATE DOMAIN bad AS int CHECK ((SELECT true)); -- 0A000
        CREATE DOMAIN bad AS int DEFAULT 'x'; -- 22P02
        CREATE DOMAIN bad AS int DEFAULT 5 DEFAULT 6; -- 42601
        CREATE DOMAIN bad AS int NOT NULL NULL; -- 42601
        CREATE DOMAIN bad AS nosuch; -- 42704
        CREATE DOMAIN bad AS int COLLATE "C"; -- 42804
        CREATE TYPE r AS RANGE (SUBTYPE = int);
        CREATE TYPE r2 AS RANGE (SUBTYPE = json); -- 42704
        CREATE TABLE u1 (id bad); -- 42704
        CREATE TABLE u2 (id pos PRIMARY KEY, a addr, r r, e e DEFAULT 'b', p pos DEFAULT 0, q pos DEFAULT 'x'); -- 22P02
        CREATE TABLE u2 (id pos PRIMARY KEY, a addr, r r, e e DEFAULT 'b', p pos DEFAULT 0);
        CREATE TABLE u3 (id int, e e DEFAULT 'zz'); -- 22P02
        CREATE TABLE u4 OF addr (street PRIMARY KEY);
        CREATE TABLE u5 OF addr (nosuch PRIMARY KEY); -- 42703
        CREATE TABLE u6 OF nosuch; -- 42704
        CREATE PUBLICATION p FOR TABLE u2 WHERE (id > 0), u4; -- 0A000
        CREATE PUBLICATION p2 FOR TABLE u4, u2;
        CREATE PUBLICATION p3 FOR TABLE u1; -- 42P01
        UPDATE u2 SET p = 5;
        UPDATE u4 SET zip = 5;
        ALTER TYPE addr ADD ATTRIBUTE city text; -- 2BP01
        ALTER TYPE addr ADD ATTRIBUTE city text CASCADE;
        ALTER TYPE addr DROP ATTRIBUTE street CASCADE;
        DROP TYPE addr; -- 2BP01
        DROP TYPE pos; -- 2BP01
        DROP DOMAIN pos CASCADE;
        DROP TYPE e CASCADE;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
