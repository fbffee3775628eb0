"""CREATE TABLE: inheritance, LIKE, generated and identity columns, repeated keys."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "inherited columns merge": r"""
        CREATE TABLE p (a int NOT NULL, b text, g int GENERATED ALWAYS AS (a + 1) STORED);
        CREATE TABLE c1 (a bigint) INHERITS (p); -- 42804
        CREATE TABLE c2 (a int, z int) INHERITS (p);
        CREATE TABLE c3 (g int DEFAULT 1) INHERITS (p); -- 42611
        CREATE TABLE c4 (a int GENERATED ALWAYS AS (1) STORED) INHERITS (p); -- 16: 42611, 17: 42611, 18: 42611
        CREATE TABLE c5 () INHERITS (p, p); -- 42P07
        CREATE TABLE q (a text);
        CREATE TABLE c6 () INHERITS (p, q); -- 42804
        ALTER TABLE c2 ALTER g TYPE bigint; -- 42P16
        ALTER TABLE p DROP COLUMN a; -- 2BP01
        ALTER TABLE c2 DROP COLUMN z;
        ALTER TABLE c2 DROP COLUMN b; -- 42P16
        CREATE TEMP TABLE tp (a int);
        CREATE TABLE c7 () INHERITS (tp); -- 42809
    """,
    "a key given twice is one": r"""
        CREATE TABLE t (a int PRIMARY KEY, b int, CONSTRAINT u UNIQUE (a));
        ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey; -- 42704
        ALTER TABLE t REPLICA IDENTITY USING INDEX u;
        CREATE TABLE v (a int UNIQUE UNIQUE, UNIQUE (a) DEFERRABLE);
        ALTER TABLE v DROP CONSTRAINT v_a_key;
        ALTER TABLE v DROP CONSTRAINT v_a_key1;
        CREATE TABLE w (a int PRIMARY KEY PRIMARY KEY); -- 42P16
    """,
    "generated columns": r"""
        CREATE TABLE t (a int, g int GENERATED ALWAYS AS (nope) STORED); -- 42703
        CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a) STORED, h int GENERATED ALWAYS AS (g) STORED); -- 42P17
        CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a) STORED);
        CREATE TABLE v (a int, g int GENERATED ALWAYS AS (a) VIRTUAL); -- 15: 42601, 16: 42601, 17: 42601
        CREATE TABLE l (LIKE t INCLUDING ALL);
        ALTER TABLE l ALTER a TYPE bigint; -- 0A000
        ALTER TABLE l DROP COLUMN a; -- 2BP01
        CREATE TABLE x (a int, g int GENERATED ALWAYS AS (a) STORED) PARTITION BY LIST (g); -- 42P17
        CREATE TABLE i (a text GENERATED ALWAYS AS IDENTITY); -- 22023
    """,
    "defaults that came with LIKE keep their sequence": r"""
        CREATE TABLE t (a serial);
        CREATE TABLE l (LIKE t INCLUDING DEFAULTS);
        DROP TABLE t; -- 2BP01
        ALTER TABLE l ALTER a DROP DEFAULT;
        DROP TABLE t;
        CREATE INDEX i ON l (a);
        CREATE TABLE z (LIKE i); -- 42809
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
