"""CREATE SEQUENCE, ALTER SEQUENCE, foreign-data wrappers and servers."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.postgres.ddl.support import find, fold, relation

SCRIPT = """
CREATE TABLE t(a int, b int);
CREATE SEQUENCE s OWNED BY t.a;
CREATE SEQUENCE s; -- 42P07
CREATE SEQUENCE IF NOT EXISTS s;
CREATE SEQUENCE s2 OWNED BY t.nosuch; -- 42703
CREATE SEQUENCE s2 OWNED BY nosuch.a; -- 42P01
CREATE SEQUENCE s2 OWNED BY t; -- 42601
CREATE SEQUENCE s2 OWNED BY NONE;
ALTER SEQUENCE s2 OWNED BY public.t.b;
ALTER SEQUENCE nosuch OWNED BY t.b; -- 42P01
ALTER SEQUENCE IF EXISTS nosuch OWNED BY t.b;
ALTER SEQUENCE t OWNED BY t.b; -- 42809
CREATE SCHEMA o;
CREATE SEQUENCE o.s3 OWNED BY t.a; -- 55000
CREATE SEQUENCE s4 OWNED BY t.b;
ALTER SEQUENCE s4 OWNED BY NONE;
ALTER TABLE t DROP COLUMN a;
CREATE VIEW v AS SELECT * FROM t;
CREATE SEQUENCE s5 OWNED BY v.b;
CREATE SEQUENCE s6 OWNED BY s5.last_value; -- 42809
CREATE TABLE idn(i int GENERATED ALWAYS AS IDENTITY);
ALTER SEQUENCE idn_i_seq OWNED BY NONE; -- 0A000
ALTER SEQUENCE idn_i_seq RESTART;
CREATE TEMP SEQUENCE ts;
CREATE UNLOGGED SEQUENCE us;
DROP TABLE t CASCADE;
CREATE FOREIGN DATA WRAPPER fw;
CREATE FOREIGN DATA WRAPPER fw; -- 42710
CREATE SERVER fs FOREIGN DATA WRAPPER fw;
CREATE SERVER fs FOREIGN DATA WRAPPER fw; -- 42710
CREATE SERVER IF NOT EXISTS fs FOREIGN DATA WRAPPER fw;
DROP FOREIGN DATA WRAPPER fw; -- 2BP01
DROP FOREIGN DATA WRAPPER fw CASCADE;
"""
"""Sequences and who owns them; wrappers and servers."""


@pytest.mark.parametrize("script", [SCRIPT], ids=["sequences"])
class TestScripts(AnnotatedScripts): ...


def test_an_owned_sequence_goes_with_its_column() -> None:
    made = "CREATE TABLE t (a int, b int); CREATE SEQUENCE s OWNED BY t.a;"
    assert find(fold(f"{made} ALTER TABLE t DROP COLUMN a;"), "s") is None
    assert find(fold(f"{made} ALTER TABLE t DROP COLUMN b;"), "s") is not None
    assert find(fold(f"{made} DROP TABLE t;"), "s") is None
    assert find(fold(f"{made} ALTER SEQUENCE s OWNED BY NONE; DROP TABLE t;"), "s") is not None
    assert find(fold(f"{made} ALTER SEQUENCE s OWNED BY t.b; ALTER TABLE t DROP COLUMN a;"), "s") is not None


def test_owning_a_sequence_teaches_an_unseen_table_its_column() -> None:
    session = fold("ALTER SEQUENCE s OWNED BY t.a; CREATE SEQUENCE q OWNED BY u.b;", complete=False)
    assert relation(session, "s").kind == "S"
    assert [column.name for column in relation(session, "t").columns] == ["a"]
    assert [column.name for column in relation(session, "u").columns] == ["b"]
