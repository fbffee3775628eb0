"""Scripts in which a server refuses what is only followed: types and defaults that do not suit what is there.

What comes after such a statement shows whether it was done.
"""

from __future__ import annotations

SCRIPTS: dict[str, tuple[str, ...]] = {
    "check text to int": (
        "CREATE TABLE t (a int, x text CHECK (x <> ''))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "check varchar to int": (
        "CREATE TABLE t (a int, x varchar CHECK (x <> ''))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "check int to bigint": (
        "CREATE TABLE t (a int, x int CHECK (x > 0))",
        "ALTER TABLE t ALTER x TYPE bigint",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "check int to bigint literal beyond": (
        "CREATE TABLE t (a int, x int CHECK (x > 0))",
        "ALTER TABLE t ALTER x TYPE bigint",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = '99999999999')",
    ),
    "int to text": (
        "CREATE TABLE t (a int, x int CHECK (x > 0))",
        "ALTER TABLE t ALTER x TYPE text",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "enum of text with check": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a int, x text CHECK (x IN ('a', 'b')))",
        "ALTER TABLE t ALTER x TYPE e USING x::e",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "enum of varchar with check": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a int, x varchar(10) CHECK (x IN ('a', 'b')))",
        "ALTER TABLE t ALTER x TYPE e USING x::e",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "enum of varchar with check any": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a int, x varchar(10) CHECK (x = ANY (ARRAY['a', 'b'])))",
        "ALTER TABLE t ALTER x TYPE e USING x::e",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "enum to text with check": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a int, x e CHECK (x <> 'a'))",
        "ALTER TABLE t ALTER x TYPE text",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "function in check": (
        "CREATE TABLE t (a int, x text CHECK (length(x) > 2))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "two columns": (
        "CREATE TABLE t (a int, x int, y int, CHECK (x > y))",
        "ALTER TABLE t ALTER x TYPE text, ALTER y TYPE text",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "one of two columns": (
        "CREATE TABLE t (a int, x int, y int, CHECK (x > y))",
        "ALTER TABLE t ALTER x TYPE text",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "dropped with it": (
        "CREATE TABLE t (a int, x int, y int, CONSTRAINT c CHECK (x > y))",
        "ALTER TABLE t ALTER x TYPE text, DROP CONSTRAINT c",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "added with it": (
        "CREATE TABLE t (a int, x int)",
        "ALTER TABLE t ALTER x TYPE text, ADD CONSTRAINT c CHECK (x <> '')",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "renamed": (
        "CREATE TABLE t (a int, x text CHECK (x <> ''))",
        "ALTER TABLE t RENAME x TO z",
        "ALTER TABLE t RENAME TO tt",
        "ALTER TABLE tt ALTER z TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE tt WHERE (z = 'abc')",
    ),
    "qualified": (
        "CREATE TABLE t (a int, x text, CHECK (t.x <> ''))",
        "ALTER TABLE t RENAME TO tt",
        "ALTER TABLE tt ALTER x TYPE varchar(20)",
        "CREATE PUBLICATION p FOR TABLE tt WHERE (x = 'abc')",
    ),
    "partial index": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a int, x text)",
        "CREATE INDEX ON t (a) WHERE x = 'a'",
        "ALTER TABLE t ALTER x TYPE e USING x::e",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "expression index": (
        "CREATE TABLE t (a int, x text)",
        "CREATE INDEX ON t (lower(x))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "expression index ok": (
        "CREATE TABLE t (a int, x text)",
        "CREATE INDEX ON t (lower(x))",
        "ALTER TABLE t ALTER x TYPE varchar(10)",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "index on json": (
        "CREATE TABLE t (a int, x text)",
        "CREATE INDEX ON t (x)",
        "ALTER TABLE t ALTER x TYPE json USING '{}'",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "domain": (
        "CREATE DOMAIN d AS text CHECK (VALUE <> '')",
        "CREATE TABLE t (a int, x text CHECK (x > 'a'))",
        "ALTER TABLE t ALTER x TYPE d",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "dates": (
        "CREATE TABLE t (a int, x timestamp CHECK (x > '2020-01-01'))",
        "ALTER TABLE t ALTER x TYPE timestamptz",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x > '2021-01-01 00:00:00+00')",
    ),
    "dates to text": (
        "CREATE TABLE t (a int, x timestamp CHECK (x > '2020-01-01'))",
        "ALTER TABLE t ALTER x TYPE text",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x > 'b')",
    ),
    "between": (
        "CREATE TABLE t (a int, x int CHECK (x BETWEEN 1 AND 5), CHECK (x % 2 = 0 AND a IS NOT NULL OR x IS NULL))",
        "ALTER TABLE t ALTER x TYPE numeric",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 1.5)",
    ),
    "case": (
        "CREATE TABLE t (a int, x text, CHECK (CASE WHEN a > 1 THEN x ELSE 'q' END <> ''))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "coalesce": (
        "CREATE TABLE t (a int, x varchar(5), CHECK (coalesce(x, 'q') <> ''))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (x = 'abc')",
    ),
    "inherited": (
        "CREATE TABLE t (a int, x text, CHECK (x <> ''))",
        "CREATE TABLE k () INHERITS (t)",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE k WHERE (x = 'abc')",
    ),
    "child's own check": (
        "CREATE TABLE t (a int, x text)",
        "CREATE TABLE k (CHECK (x <> '')) INHERITS (t)",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE k WHERE (x = 'abc')",
    ),
    "user function": (
        "CREATE TABLE t (a int, x text)",
        "CREATE FUNCTION f(text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
        "ALTER TABLE t ADD CHECK (f(x))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (a = 1 AND x = 'abc')",
    ),
    "user function varchar": (
        "CREATE TABLE t (a int, x varchar)",
        "CREATE FUNCTION f(text) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT true'",
        "ALTER TABLE t ADD CHECK (f(x))",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t WHERE (a = 1 AND x = 'abc')",
    ),
    "partitioned": (
        "CREATE TABLE t (a int, x text CHECK (x <> '')) PARTITION BY LIST (a)",
        "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1)",
        "CREATE INDEX ON t (a) WHERE x > 'b'",
        "ALTER TABLE t ALTER x TYPE int USING 1",
        "CREATE PUBLICATION p FOR TABLE t1 WHERE (x = 'abc')",
    ),
    "partitioned ok": (
        "CREATE TABLE t (a int, x text) PARTITION BY LIST (a)",
        "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1)",
        "CREATE INDEX ON t (a) WHERE x > 'b'",
        "ALTER TABLE t ALTER x TYPE varchar(20)",
        "CREATE PUBLICATION p FOR TABLE t1 WHERE (x = 'abc')",
    ),
    "int default x": (
        "CREATE TABLE t (a int DEFAULT 'x', b text)",
        "CREATE PUBLICATION p FOR TABLE t WHERE (b = 'abc')",
    ),
    "int default now": (
        "CREATE TABLE t (a int DEFAULT now(), b text)",
        "CREATE PUBLICATION p FOR TABLE t",
    ),
    "enum": (
        "CREATE TYPE e AS ENUM ('a', 'b')",
        "CREATE TABLE t (a e DEFAULT 'c')",
        "CREATE TABLE t2 (a e DEFAULT 'b')",
        "CREATE TABLE t3 (a e DEFAULT 'b'::e)",
        "CREATE TABLE t4 (a e DEFAULT 'b'::text)",
        "CREATE TABLE t5 (a text DEFAULT 'b'::e)",
        "CREATE TABLE t6 (a text DEFAULT 'x'::e)",
        "CREATE TABLE t7 (a e[] DEFAULT '{a,b}')",
        "CREATE TABLE t8 (a e[] DEFAULT '{a,x}')",
        "CREATE PUBLICATION p FOR TABLE t, t2, t3",
        "CREATE PUBLICATION q FOR TABLE t2, t3, t5, t7",
    ),
    "numbers": (
        "CREATE TABLE t (a int DEFAULT 1.5, b numeric DEFAULT 1, c real DEFAULT '1e3', d int2 DEFAULT "
        "100000, e int DEFAULT '99999999999')",
        "CREATE TABLE u (a int DEFAULT 1.5, b numeric DEFAULT 1, c real DEFAULT '1e3', d int2 DEFAULT "
        "100000, e bigint DEFAULT '99999999999', f int DEFAULT '-5'::integer, g bool DEFAULT 1)",
        "CREATE TABLE v (a int DEFAULT 1.5, b numeric DEFAULT 1, c real DEFAULT '1e3', d int2 DEFAULT "
        "100000, e bigint DEFAULT '99999999999', f int DEFAULT '-5'::integer, g bool DEFAULT '1', h int "
        "DEFAULT 99999999999, i int DEFAULT 1e30)",
        "CREATE PUBLICATION p FOR TABLE v",
    ),
    "times": (
        "CREATE TABLE t (a date DEFAULT now(), b timestamp DEFAULT CURRENT_DATE, c timestamptz DEFAULT "
        "'2020-01-01', d time DEFAULT now(), e interval DEFAULT '1 day', f date DEFAULT 'today', g "
        "interval DEFAULT '1 foo')",
        "CREATE TABLE u (a date DEFAULT now(), b timestamp DEFAULT CURRENT_DATE, c timestamptz DEFAULT "
        "'2020-01-01', d time DEFAULT now(), e interval DEFAULT '1 day', f date DEFAULT 'today', g text "
        "DEFAULT now(), h varchar DEFAULT CURRENT_USER, i name DEFAULT CURRENT_USER)",
        "CREATE TABLE v (a date DEFAULT '2020-13-01')",
        "CREATE TABLE w (a interval DEFAULT now())",
        "CREATE TABLE x (a date DEFAULT 1)",
        "CREATE TABLE y (a timestamp DEFAULT 0)",
        "CREATE PUBLICATION p FOR TABLE u",
    ),
    "json and others": (
        "CREATE TABLE t (a json DEFAULT '')",
        "CREATE TABLE u (a json DEFAULT '{}', b jsonb DEFAULT '[]', c jsonb DEFAULT '{\"a\": 1}', d uuid "
        "DEFAULT gen_random_uuid(), e uuid DEFAULT '00000000-0000-0000-0000-000000000000', f int[] "
        "DEFAULT '{}', g text[] DEFAULT '{}'::text[], h inet DEFAULT '127.0.0.1', i bytea DEFAULT '\\x')",
        "CREATE TABLE v (a uuid DEFAULT '')",
        "CREATE TABLE w (a int[] DEFAULT '')",
        "CREATE TABLE x (a boolean DEFAULT 'maybe')",
        "CREATE TABLE y (a boolean DEFAULT 'yes', b bool DEFAULT 'on', c boolean DEFAULT '0', d xml DEFAULT '<a/>')",
        "CREATE TABLE z (a uuid DEFAULT now())",
        "CREATE TABLE zz (a int DEFAULT NULL, b uuid DEFAULT NULL, c int DEFAULT NULL::text)",
        "CREATE PUBLICATION p FOR TABLE u, y",
    ),
    "default of a domain": (
        "CREATE DOMAIN d AS int CHECK (VALUE > 0)",
        "CREATE TABLE t (a d DEFAULT 'x')",
        "CREATE TABLE u (a d DEFAULT '5', b d DEFAULT -5, c d DEFAULT 0)",
        "CREATE TABLE v (a d DEFAULT now())",
        "CREATE PUBLICATION p FOR TABLE u",
    ),
    "added, set": (
        "CREATE TABLE t (a int PRIMARY KEY, b text)",
        "ALTER TABLE t ADD COLUMN c int DEFAULT 'x', DROP COLUMN b",
        "CREATE PUBLICATION p FOR TABLE t WHERE (b = 'abc')",
        "ALTER TABLE t ALTER a SET DEFAULT 'q'",
        "ALTER TABLE t ALTER a SET DEFAULT '7'",
        "ALTER TABLE t ALTER a TYPE text",
    ),
    "length": (
        "CREATE TABLE t (a varchar(2) DEFAULT 'abcdef', b char(1) DEFAULT 'abc', c numeric(2,1) DEFAULT "
        "12345, d bit(3) DEFAULT '10101', e int4range DEFAULT '[1,5)', f varchar(3) DEFAULT 5)",
        "CREATE PUBLICATION p FOR TABLE t",
    ),
    "partition, like, inherit": (
        "CREATE TABLE r (a int, b int DEFAULT 5) PARTITION BY LIST (a)",
        "CREATE TABLE r1 PARTITION OF r (b DEFAULT 'x') FOR VALUES IN (1)",
        "CREATE TABLE r2 PARTITION OF r (b DEFAULT '8') FOR VALUES IN (2)",
        "CREATE TABLE k (LIKE r INCLUDING ALL)",
        "CREATE TABLE i (b int DEFAULT 'q') INHERITS (k)",
        "CREATE PUBLICATION p FOR TABLE r2",
    ),
    "concurrently in a transaction": (
        "CREATE TABLE t (a int NOT NULL)",
        "BEGIN",
        "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)",
        "COMMIT",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX i",
        "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX i",
        "BEGIN",
        "DROP INDEX CONCURRENTLY i",
        "COMMIT",
        "CREATE PUBLICATION p FOR TABLE t (a)",
    ),
}
