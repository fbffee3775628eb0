"""Virtual generated columns that 18 refuses are not made."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import assert_followed
from tests.postgres.ddl.support import assert_agrees
from tests.support.linting import answers, lint
from tests.support.servers import Servers

SCRIPT = r"""
    CREATE TYPE e AS ENUM ('x');
    CREATE DOMAIN d AS int;
    CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1';
    CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq);
    CREATE TABLE t (a int, b text, e e, d d, s timestamptz, v int GENERATED ALWAYS AS (a * 2) VIRTUAL);
    ALTER TABLE t ADD g int GENERATED ALWAYS AS (f(a)) VIRTUAL; -- 0A000
    ALTER TABLE t ADD g boolean GENERATED ALWAYS AS (a === 1) VIRTUAL;
    ALTER TABLE t ADD h boolean GENERATED ALWAYS AS (e = 'x') VIRTUAL; -- 0A000
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (d + 1) VIRTUAL; -- 0A000
    ALTER TABLE t ADD h d GENERATED ALWAYS AS (a) VIRTUAL; -- 0A000
    ALTER TABLE t ADD h e GENERATED ALWAYS AS ('x') VIRTUAL; -- 0A000
    ALTER TABLE t ADD h int GENERATED ALWAYS AS ((SELECT 1)) VIRTUAL; -- 0A000
    ALTER TABLE t ADD h text GENERATED ALWAYS AS (now()) VIRTUAL; -- 42P17
    ALTER TABLE t ADD h date GENERATED ALWAYS AS (b::date) VIRTUAL; -- 42P17
    ALTER TABLE t ADD h text GENERATED ALWAYS AS (current_user) VIRTUAL; -- 42P17
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (nosuch) VIRTUAL; -- 42703
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (u.a) VIRTUAL; -- 42P01
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (nosuch(a)) VIRTUAL; -- 42883
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (max(a)) VIRTUAL; -- 42803
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (v + 1) VIRTUAL; -- 42P17
    ALTER TABLE t ADD h int GENERATED ALWAYS AS (b) VIRTUAL; -- 42804
    ALTER TABLE t ADD h int GENERATED ALWAYS AS ('x') VIRTUAL; -- 22P02
    ALTER TABLE t ADD h int GENERATED ALWAYS AS ('5') VIRTUAL;
    ALTER TABLE t ADD i text GENERATED ALWAYS AS (t.b || upper(t.b)) VIRTUAL;
    ALTER TABLE t ALTER i SET EXPRESSION AS (f(a)); -- 0A000
    CREATE TABLE r (a int, v int GENERATED ALWAYS AS (a * 2) VIRTUAL, w text GENERATED ALWAYS AS (a::text) VIRTUAL);
    ALTER TABLE r ALTER v TYPE uuid; -- 42804
    ALTER TABLE r ALTER v TYPE bigint;
    ALTER TABLE r ALTER w TYPE int; -- 42804
    ALTER TABLE r ALTER w TYPE varchar(20);
    CREATE TABLE u (a int, b text GENERATED ALWAYS AS (f(a)) VIRTUAL); -- 0A000
    CREATE TABLE u (a int, b text);
"""


def test_statements_are_refused_as_the_server_refuses_them() -> None:
    assert_followed(SCRIPT, 18)


@pytest.mark.server
def test_the_answers_are_those_of_the_server(servers: Servers) -> None:
    assert_agrees(servers[18], SCRIPT)


def test_what_may_be_made_elsewhere_is_not_refused() -> None:
    table = "CREATE TABLE t (a int, b int GENERATED ALWAYS AS (elsewhere(a)) VIRTUAL);"
    assert answers(lint(table + "CREATE PUBLICATION p FOR TABLE t (b);", postgres=(18,)))[0][0] == "42P10"
