"""ALTER TABLE: NOT NULL, columns, persistence, what may be altered at all."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "not null and its constraint": r"""
        CREATE TABLE t (a int NOT NULL, b int CONSTRAINT nn NOT NULL, c int PRIMARY KEY);
        ALTER TABLE t DROP CONSTRAINT t_a_not_null; -- 15: 42704, 16: 42704, 17: 42704
        ALTER TABLE t DROP CONSTRAINT nn; -- 15: 42704, 16: 42704, 17: 42704
        ALTER TABLE t ALTER c DROP NOT NULL; -- 42P16
        ALTER TABLE t DROP CONSTRAINT t_pkey;
        ALTER TABLE t ALTER c DROP NOT NULL;
        ALTER TABLE t ALTER a DROP NOT NULL;
        ALTER TABLE t ADD CONSTRAINT late NOT NULL a NOT VALID; -- 15: 42601, 16: 42601, 17: 42601
        ALTER TABLE t ADD PRIMARY KEY (a); -- 18: 55000
        ALTER TABLE t VALIDATE CONSTRAINT late; -- 15: 42704, 16: 42704, 17: 42704
        ALTER TABLE t ADD PRIMARY KEY (a); -- 15: 42P16, 16: 42P16, 17: 42P16
    """,
    "not null of children": r"""
        CREATE TABLE p (a int NOT NULL, b int);
        CREATE TABLE c () INHERITS (p);
        ALTER TABLE c ALTER a DROP NOT NULL; -- 18: 42P16
        ALTER TABLE p ALTER a DROP NOT NULL;
        ALTER TABLE ONLY p ALTER a SET NOT NULL;
        ALTER TABLE p ALTER a SET NOT NULL; -- 18: 0A000
        ALTER TABLE p ALTER b SET NOT NULL;
        CREATE TABLE d (a int, b int);
        ALTER TABLE d INHERIT p; -- 42804
        ALTER TABLE d ALTER a SET NOT NULL, ALTER b SET NOT NULL;
        ALTER TABLE d INHERIT p;
        ALTER TABLE d ALTER b DROP NOT NULL; -- 18: 42P16
        ALTER TABLE d NO INHERIT p;
        ALTER TABLE d ALTER b DROP NOT NULL;
    """,
    "columns and ONLY": r"""
        CREATE TABLE p (a int, b int);
        CREATE TABLE c () INHERITS (p);
        ALTER TABLE ONLY p ADD COLUMN x int; -- 42P16
        ALTER TABLE ONLY p ADD COLUMN IF NOT EXISTS b int;
        ALTER TABLE ONLY p ADD CHECK (a > 0); -- 42P16
        ALTER TABLE ONLY p ADD CHECK (a > 0) NO INHERIT;
        ALTER TABLE ONLY p ALTER a TYPE bigint; -- 42P16
        ALTER TABLE ONLY p DROP COLUMN b;
        ALTER TABLE c DROP COLUMN b;
        ALTER TABLE c DROP COLUMN a; -- 42P16
        ALTER TABLE p ADD COLUMN i int GENERATED ALWAYS AS IDENTITY; -- 42P16
    """,
    "kinds of relations": r"""
        CREATE TABLE t (a int PRIMARY KEY);
        CREATE VIEW v AS SELECT a FROM t;
        CREATE SEQUENCE s;
        CREATE TYPE ct AS (a int);
        ALTER TABLE v ADD COLUMN b int; -- 42809
        ALTER VIEW t ALTER a SET DEFAULT 1; -- 42809
        ALTER TABLE ct ADD COLUMN b int; -- 42809
        ALTER TABLE t_pkey DROP CONSTRAINT t_pkey; -- 42809
        ALTER TABLE s SET UNLOGGED;
        ALTER TABLE t NOT OF; -- 42809
        ALTER TABLE t OF ct;
        ALTER TABLE t DROP COLUMN a; -- 42809
        ALTER TABLE t CLUSTER ON nope; -- 42704
        ALTER TABLE pg_class ADD COLUMN a int; -- 42501
        ALTER TABLE information_schema.sql_features DROP CONSTRAINT IF EXISTS nope;
    """,
    "persistence": r"""
        CREATE UNLOGGED TABLE u (a int PRIMARY KEY);
        CREATE TEMP TABLE t (a int PRIMARY KEY);
        CREATE TABLE p (a int) PARTITION BY LIST (a);
        ALTER TABLE t SET LOGGED; -- 42P16
        ALTER TABLE t SET UNLOGGED; -- 42P16
        ALTER TABLE p SET LOGGED; -- 18: 42809
        ALTER TABLE p SET UNLOGGED; -- 18: 42809
        CREATE PUBLICATION pub FOR TABLE p;
        CREATE TABLE f (a int REFERENCES u); -- 42P16
        CREATE TABLE f (a int REFERENCES t); -- 42P16
        CREATE UNLOGGED TABLE f (a int REFERENCES u);
        ALTER TABLE f SET LOGGED; -- 42P16
        ALTER TABLE u SET LOGGED;
        ALTER TABLE f SET LOGGED;
        ALTER TABLE u SET UNLOGGED; -- 42P16
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
