"""ALTER COLUMN ... TYPE that wants a cast: where there is none, the column keeps its type."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.support.linting import answers, lint

SCRIPTS = {
    "columns": r"""
        CREATE TYPE e AS ENUM ('x');
        CREATE DOMAIN d AS int;
        CREATE TABLE t (a int, b text, c bigint, d date, e jsonb, f int[]);
        ALTER TABLE t ALTER a TYPE bigint;
        ALTER TABLE t ALTER b TYPE int; -- 42804
        ALTER TABLE t ALTER b TYPE int USING b::int;
        ALTER TABLE t ALTER b TYPE text;
        ALTER TABLE t ALTER b TYPE e; -- 42804
        ALTER TABLE t ALTER b TYPE e USING b::e;
        ALTER TABLE t ALTER b TYPE varchar(5);
        ALTER TABLE t ALTER c TYPE d;
        ALTER TABLE t ALTER c TYPE boolean; -- 42804
        ALTER TABLE t ALTER d TYPE boolean USING nosuch; -- 42703
        ALTER TABLE t ALTER d TYPE boolean USING 5; -- 42804
        ALTER TABLE t ALTER d TYPE boolean USING '5'; -- 22P02
        ALTER TABLE t ALTER d TYPE boolean USING d > now();
        ALTER TABLE t ALTER e TYPE json;
        ALTER TABLE t ALTER e TYPE int; -- 42804
        ALTER TABLE t ALTER f TYPE bigint[];
        ALTER TABLE t ALTER f TYPE date[]; -- 42804
        CREATE CAST (int AS boolean) WITH INOUT AS ASSIGNMENT; -- 42710
        CREATE CAST (date AS int) WITH INOUT AS ASSIGNMENT;
        CREATE TABLE u (d date);
        ALTER TABLE u ALTER d TYPE int;
    """,
    "defaults": r"""
        CREATE TYPE e AS ENUM ('x');
        CREATE TABLE t (a text DEFAULT 'x', b text DEFAULT 5, c text DEFAULT now(), d int DEFAULT 5, s serial, n text);
        ALTER TABLE t ALTER a TYPE e USING a::e; -- 42804
        ALTER TABLE t ALTER a TYPE e USING a::e, ALTER a DROP DEFAULT, ALTER a SET DEFAULT 'x';
        ALTER TABLE t ALTER a TYPE int USING 5; -- 42804
        ALTER TABLE t ALTER b TYPE int USING 5;
        ALTER TABLE t ALTER b TYPE boolean USING true; -- 42804
        ALTER TABLE t ALTER c TYPE date USING now();
        ALTER TABLE t ALTER c TYPE int USING 5; -- 42804
        ALTER TABLE t ALTER d TYPE boolean USING true; -- 42804
        ALTER TABLE t ALTER s TYPE bigint;
        ALTER TABLE t ALTER s TYPE uuid USING gen_random_uuid(); -- 42804
        ALTER TABLE t ALTER n SET DEFAULT '5'::text;
        ALTER TABLE t ALTER n TYPE int USING 5; -- 42804
        CREATE TABLE l (LIKE t);
        ALTER TABLE l ALTER n TYPE int USING 5;
    """,
    "identity and generated columns": r"""
        CREATE DOMAIN d AS int;
        CREATE TABLE t (i int GENERATED ALWAYS AS IDENTITY, a int, g int GENERATED ALWAYS AS (a * 2) STORED);
        ALTER TABLE t ALTER i TYPE text; -- 22023
        ALTER TABLE t ALTER i TYPE d; -- 22023
        ALTER TABLE t ALTER i TYPE bigint;
        ALTER TABLE t ALTER g TYPE text;
        ALTER TABLE t ALTER g TYPE int USING 5; -- 42611
    """,
    "defaults are of their type as before": r"""
        CREATE TYPE e2 AS ENUM ('x', 'y');
        CREATE TYPE e3 AS ENUM ('x', 'y');
        CREATE TYPE e4 AS ENUM ('x', 'y');
        CREATE TYPE e5 AS ENUM ('x', 'y');
        CREATE TYPE e6 AS ENUM ('x', 'y');
        CREATE TYPE e7 AS ENUM ('x', 'y');
        CREATE TABLE t (b e2 DEFAULT 'x', c e3, d e4 DEFAULT 'y', f e5 DEFAULT NULL, h e7 DEFAULT 'x');
        ALTER TABLE t ADD g e6 DEFAULT 'x'::text::e6;
        ALTER TABLE t ALTER b TYPE text;
        DROP TYPE e2; -- 2BP01
        ALTER TABLE t ALTER c TYPE text;
        DROP TYPE e3;
        ALTER TABLE t ALTER d DROP DEFAULT;
        ALTER TABLE t ALTER d TYPE text;
        DROP TYPE e4;
        ALTER TABLE t ALTER f TYPE text;
        DROP TYPE e5;
        ALTER TABLE t ALTER g TYPE text;
        DROP TYPE e6; -- 2BP01
        ALTER TABLE t ALTER h TYPE text, ALTER h DROP DEFAULT;
        DROP TYPE e7;
        ALTER TABLE t ALTER b TYPE varchar;
        DROP TYPE e2; -- 2BP01
        ALTER TABLE t ALTER b TYPE e2 USING b::e2;
        DROP TYPE e2; -- 2BP01
        ALTER TABLE t ALTER b TYPE text;
        ALTER TABLE t ALTER b SET DEFAULT 'z';
        DROP TYPE e2;
        ALTER TABLE t ALTER g SET DEFAULT 'q'::text;
        DROP TYPE e6;
        CREATE TYPE status AS ENUM ('a', 'b');
        CREATE TABLE s (id int PRIMARY KEY, st status NOT NULL DEFAULT 'a');
        ALTER TYPE status RENAME TO status_old;
        CREATE TYPE status AS ENUM ('a', 'b', 'c');
        ALTER TABLE s ALTER COLUMN st TYPE status USING st::text::status; -- 42804
        ALTER TABLE s ALTER COLUMN st DROP DEFAULT;
        ALTER TABLE s ALTER COLUMN st TYPE status USING st::text::status;
        ALTER TABLE s ALTER COLUMN st SET DEFAULT 'c';
        DROP TYPE status_old;
        CREATE DOMAIN dom AS text;
        CREATE TABLE dt (a dom DEFAULT 'x');
        ALTER TABLE dt ALTER a TYPE text;
        DROP DOMAIN dom;
        CREATE TABLE par (a status DEFAULT 'a');
        CREATE TABLE kid () INHERITS (par);
        ALTER TABLE par ALTER a TYPE text;
        ALTER TABLE par ALTER a DROP DEFAULT;
        DROP TABLE s;
        DROP TYPE status;
        ALTER TABLE kid ALTER a DROP DEFAULT;
        DROP TYPE status; -- 42704
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...


def test_a_refused_change_of_type_is_not_followed() -> None:
    table = "CREATE TABLE t (a text DEFAULT 'x', b text); ALTER TABLE t ALTER b TYPE int; "
    refused = "ALTER TABLE t ALTER a TYPE int USING 1;"
    findings = lint(table + refused + "CREATE PUBLICATION p FOR TABLE t WHERE (a = 'q' AND b = 'q');", complete=True)
    assert answers(findings) == []


def test_what_hinders_the_cast_comes_before_what_depends_on_the_column() -> None:
    table = "CREATE TABLE t (a text PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t WHERE (a = 'q');"
    assert answers(lint(table + "ALTER TABLE t ALTER a TYPE int;", complete=True)) == []
    assert answers(lint(table + "ALTER TABLE t ALTER a TYPE varchar;", complete=True))[0][0] == "0A000"


def test_whether_another_type_has_an_operator_class_of_gist_is_unknown() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY, d daterange, EXCLUDE USING gist (d WITH &&));"
    retyped = "ALTER TABLE t ALTER d TYPE text;"
    findings = lint(table + retyped + "CREATE PUBLICATION p FOR TABLE t WHERE (d > 'x' AND id > 0);", complete=True)
    assert {finding.certainty for finding in findings} <= {"assumed"}
