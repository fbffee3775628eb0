"""CREATE TYPE and CREATE DOMAIN in all their forms."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.agreement import fold, last
from tests.postgres.ddl.expected import ComparedScripts

SCRIPTS = {
    "types": """
        CREATE TYPE e AS ENUM ('a', 'b');
        CREATE TYPE e AS ENUM (); -- 42710
        CREATE TYPE _e AS ENUM ('x');
        CREATE DOMAIN d AS e NOT NULL CHECK (value <> 'a') CHECK (value <> 'b');
        CREATE TYPE c AS (a int, b d);
        CREATE TYPE c AS (z int); -- 42710
        CREATE TABLE c (z int); -- 42P07
        CREATE TYPE r AS RANGE (subtype = int4);
        CREATE TYPE floatrange AS RANGE (subtype = float8);
        CREATE TABLE t (a e, b c, c r, d d, f c[], g _r);
        CREATE TABLE ot OF c;
        CREATE TABLE rowuser (x t, y t[]);
        CREATE DOMAIN t AS int; -- 42710
        CREATE TYPE t AS ENUM ('a'); -- 42710
        ALTER TYPE e ADD VALUE 'b'; -- 42710
        ALTER TYPE e ADD VALUE IF NOT EXISTS 'b';
        ALTER TYPE e ADD VALUE 'z' BEFORE 'q'; -- 22023
        ALTER TYPE e RENAME VALUE 'a' TO 'b'; -- 42710
        ALTER TYPE e RENAME VALUE 'a' TO 'aa';
        ALTER DOMAIN d DROP NOT NULL;
        ALTER DOMAIN d DROP CONSTRAINT d_check1;
        ALTER DOMAIN d DROP CONSTRAINT nope; -- 42704
        ALTER DOMAIN d DROP CONSTRAINT IF EXISTS nope;
        ALTER TYPE c ADD ATTRIBUTE n int; -- 2BP01
        ALTER TYPE c ADD ATTRIBUTE n int CASCADE;
        ALTER TYPE c DROP ATTRIBUTE a CASCADE;
        ALTER TYPE c RENAME ATTRIBUTE n TO m; -- 2BP01
        ALTER TYPE c RENAME ATTRIBUTE n TO m CASCADE;
        DROP DOMAIN e; -- 42809
        DROP TYPE e; -- 2BP01
        DROP TYPE c; -- 2BP01
        DROP TYPE r; -- 2BP01
        DROP TYPE r_multirange; -- 2BP01
        DROP TYPE _c; -- 2BP01
        DROP TYPE t; -- 2BP01
        DROP TABLE t; -- 2BP01
        ALTER TYPE c RENAME TO c9;
        ALTER TYPE t RENAME TO tt; -- 42809
        ALTER TABLE t RENAME TO tt;
        DROP TABLE tt; -- 2BP01
        ALTER TYPE e RENAME TO e2;
        ALTER TYPE e2 RENAME TO d; -- 42710
        DROP TYPE e2 CASCADE;
        DROP TYPE c9 CASCADE;
        DROP TYPE IF EXISTS zzz;
        DROP TYPE zzz; -- 42704
        DROP DOMAIN IF EXISTS zzz;
        DROP TABLE tt CASCADE;
    """,
    "typed tables": """
        CREATE TYPE c AS (id int, a int, b text);
        CREATE TABLE t OF c (PRIMARY KEY (id));
        CREATE TABLE u OF c;
        CREATE PUBLICATION p FOR TABLE t WHERE (id > 1), u (a, b);
        ALTER TYPE c DROP ATTRIBUTE a; -- 2BP01
        ALTER TYPE c DROP ATTRIBUTE a CASCADE;
        ALTER TYPE c DROP ATTRIBUTE id CASCADE;
        ALTER TABLE t RENAME COLUMN a TO x; -- 42809
        ALTER TYPE c RENAME ATTRIBUTE b TO bb CASCADE;
        DROP TYPE c; -- 2BP01
        DROP TYPE c CASCADE;
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(ComparedScripts): ...


def test_enum_keeps_its_labels_in_order() -> None:
    session, _ = fold(
        "CREATE TYPE e AS ENUM ('a', 'c'); ALTER TYPE e ADD VALUE 'b' BEFORE 'c'; ALTER TYPE e ADD VALUE 'd'"
    )
    (row,) = (row for row in session.catalog.types.values() if row.name == "e")
    assert tuple(row.labels) == ("a", "b", "c", "d")


@pytest.mark.parametrize(("major", "expected"), [(15, {"___e", "__e"}), (16, {"__e_1", "__e"})])
def test_array_type_in_the_way_gets_another_name(major: int, expected: set[str]) -> None:
    session, _ = fold("CREATE TYPE e AS ENUM (); CREATE TYPE _e AS ENUM ()", major)
    assert {row.name for row in session.catalog.types.values()} == {"e", "_e", *expected}


def test_range_brings_a_multirange_and_constructors() -> None:
    session, _ = fold("CREATE TYPE timerange AS RANGE (subtype = time)")
    assert {(row.name, row.kind) for row in session.catalog.types.values()} == {
        ("timerange", "r"),
        ("_timerange", "b"),
        ("timemultirange", "m"),
        ("_timemultirange", "b"),
    }
    assert {(row.name, len(row.arguments)) for row in session.catalog.procs.values()} == {
        ("timerange", 2),
        ("timerange", 3),
        ("timemultirange", 0),
        ("timemultirange", 1),
    }


def test_table_is_a_type_and_goes_with_what_is_made_of_it() -> None:
    told = last("CREATE TABLE t (a int); CREATE TABLE u (x t[]); DROP TABLE t")
    assert told.message == "cannot drop table t because other objects depend on it"
    assert told.detail == "column x of table u depends on type t[]"


def test_shell_is_filled_in() -> None:
    session, told = fold(
        "CREATE TYPE b; CREATE FUNCTION b_in(cstring) RETURNS b LANGUAGE internal AS 'textin'; "
        "CREATE FUNCTION b_out(b) RETURNS cstring LANGUAGE internal AS 'textout'; "
        "CREATE TYPE b (input = b_in, output = b_out, like = text)"
    )
    assert [answer.sqlstate for answer in told] == [None] * 4
    (row,) = (row for row in session.catalog.types.values() if row.name == "b")
    assert row.kind == "b"
    assert {proc.returns for proc in session.catalog.procs.values() if proc.name == "b_in"} == {row.oid}


def test_type_of_an_extension_is_not_visible() -> None:
    session, told = fold("CREATE EXTENSION postgis; CREATE TABLE t (a geometry, b nosuch)")
    assert told[-1].sqlstate is None
    (table,) = session.catalog.relations.values()
    assert [column.type for column in table.columns] == [0, 0]
    assert last("CREATE TABLE t (a citext)").sqlstate == "42704"


ODD = """
    CREATE TYPE a.b AS ENUM (); CREATE TYPE x AS (); CREATE TYPE x AS (a nosuch, b x); CREATE TYPE y AS (a int, a
    int); CREATE TYPE r AS RANGE (subtype = nosuch); CREATE TYPE r2 AS RANGE (canonical = f); CREATE TYPE r3 AS RANGE
    (subtype = int, multirange_type_name = s.m); CREATE TYPE b (input, output); CREATE TYPE b; CREATE TYPE b (input =
    f, output = s.g, element = int, alignment = 'double'); CREATE TYPE b2 (nosuch = 1.5, input = 1); CREATE DOMAIN d
    AS nosuch; CREATE DOMAIN d2 AS int NULL NOT NULL; CREATE DOMAIN d3 AS x CONSTRAINT c CHECK (value = 1); CREATE
    DOMAIN d4 AS anyelement; CREATE DOMAIN d5 AS text COLLATE nosuch DEFAULT 'x'; ALTER DOMAIN nosuch SET NOT NULL;
    ALTER DOMAIN d3 DROP CONSTRAINT c CASCADE; ALTER DOMAIN d3 VALIDATE CONSTRAINT c; ALTER DOMAIN int4 SET DEFAULT 1;
    ALTER TYPE nosuch ADD VALUE 'x'; ALTER TYPE nosuch RENAME VALUE 'x' TO 'y'; ALTER TYPE x ADD VALUE 'x'; ALTER TYPE
    nosuch ADD ATTRIBUTE a int; ALTER TYPE x DROP ATTRIBUTE nosuch; ALTER TYPE x DROP ATTRIBUTE IF EXISTS nosuch;
    ALTER TYPE x ALTER ATTRIBUTE a TYPE int CASCADE, ADD ATTRIBUTE c int[], DROP ATTRIBUTE b; ALTER TYPE x OWNER TO
    nobody; CREATE COLLATION c (locale = 'nosuch'); CREATE COLLATION s.c FROM nosuch; CREATE TEXT SEARCH CONFIGURATION
    x (copy = y); CREATE AGGREGATE a (*) (stype = nosuch, sfunc = f); CREATE AGGREGATE a (sfunc = f, stype = int,
    basetype = nosuch); CREATE AGGREGATE b (VARIADIC int[]) (sfunc = f, stype = int[], finalfunc = g); CREATE
    AGGREGATE c (int) (sfunc = f); CREATE OPERATOR + (procedure = f); CREATE OPERATOR s.+ (leftarg = nosuch, rightarg
    = int, function = f); CREATE OPERATOR @@@ (rightarg = int, procedure = OPERATOR(+)); CREATE OPERATOR ## (leftarg =
    int, rightarg = int)
"""


@pytest.mark.parametrize("complete", [True, False])
def test_odd_statements_are_survived(complete: bool) -> None:
    fold(ODD, complete=complete)
