"""Keys, foreign keys, CHECK, NOT NULL as constraints."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts

SCRIPTS = {
    "foreign keys": r"""
        CREATE TABLE t (a int PRIMARY KEY DEFERRABLE, b int UNIQUE, c text UNIQUE);
        CREATE TABLE f (a int REFERENCES t); -- 55000
        CREATE TABLE f (a int REFERENCES t (b));
        ALTER TABLE f ADD FOREIGN KEY (a) REFERENCES t (c); -- 42804
        ALTER TABLE f ADD FOREIGN KEY (a) REFERENCES t (a); -- 55000
        ALTER TABLE f ADD FOREIGN KEY (a) REFERENCES t (nope); -- 42703
        ALTER TABLE f ADD FOREIGN KEY (nope) REFERENCES t (b); -- 42703
        ALTER TABLE f ADD FOREIGN KEY (a) REFERENCES f; -- 42704
        CREATE TEMP TABLE tt (a int PRIMARY KEY);
        ALTER TABLE f ADD FOREIGN KEY (a) REFERENCES tt; -- 42P16
        ALTER TABLE t DROP CONSTRAINT t_b_key; -- 2BP01
        ALTER TABLE t DROP CONSTRAINT t_b_key CASCADE;
    """,
    "names of not null constraints": r"""
        CREATE TABLE t (a int CONSTRAINT k NOT NULL, b int CONSTRAINT k NOT NULL); -- 18: 42710
        CREATE TABLE t (a int NOT NULL); -- 15: 42P07, 16: 42P07, 17: 42P07
        ALTER TABLE t RENAME TO old;
        CREATE TABLE t (a int NOT NULL);
        ALTER TABLE t DROP CONSTRAINT t_a_not_null; -- 42704
        ALTER TABLE t DROP CONSTRAINT t_a_not_null1; -- 15: 42704, 16: 42704, 17: 42704
        ALTER TABLE old DROP CONSTRAINT t_a_not_null; -- 15: 42704, 16: 42704, 17: 42704
        CREATE TABLE n (a int NOT NULL NO INHERIT, b int); -- 15: 42601, 16: 42601, 17: 42601
        CREATE TABLE IF NOT EXISTS n (a int, b int);
        ALTER TABLE n ADD CONSTRAINT o NOT NULL b; -- 15: 42601, 16: 42601, 17: 42601
        ALTER TABLE n ADD CONSTRAINT p NOT NULL b; -- 15: 42601, 16: 42601, 17: 42601, 18: 55000
        ALTER TABLE n ADD CONSTRAINT o CHECK (b > 0); -- 18: 42710
        ALTER TABLE n ADD PRIMARY KEY (a); -- 18: 55000
        CREATE TABLE pn (a int NOT NULL NO INHERIT) PARTITION BY LIST (a); -- 15: 42601, 16: 42601, 17: 42601, 18: 0A000
    """,
    "keys that are moved": r"""
        CREATE TABLE t (a int NOT NULL, b int);
        CREATE UNIQUE INDEX i ON t (a);
        CREATE UNIQUE INDEX e ON t (abs(b));
        ALTER TABLE t ADD PRIMARY KEY USING INDEX i;
        ALTER TABLE t ADD PRIMARY KEY (b); -- 42P16
        ALTER TABLE t ADD UNIQUE USING INDEX i; -- 55000
        ALTER TABLE t ADD UNIQUE USING INDEX e; -- 42809
        ALTER TABLE t ADD UNIQUE USING INDEX nope; -- 42704
        ALTER TABLE t ALTER a DROP NOT NULL, DROP CONSTRAINT i; -- 42P16
        ALTER TABLE t ALTER a DROP NOT NULL, ADD PRIMARY KEY (a); -- 42P16
        CREATE TABLE w (a int4range, b int4range, UNIQUE (a, b WITHOUT OVERLAPS)); -- 15: 42601, 16: 42601, 17: 42601
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...
