"""Tables made of what a prepared statement gives."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, lint
from tests.support.servers import Servers, execute

SCRIPT = (
    "PREPARE q AS SELECT 1 AS a, 'x'::text AS b",
    "CREATE TABLE t AS EXECUTE q",
    "CREATE PUBLICATION p1 FOR TABLE t (a)",
    "CREATE PUBLICATION p2 FOR TABLE t (nosuch)",
    "CREATE PUBLICATION p3 FOR TABLE t WHERE (b > 0)",
    "CREATE TABLE n AS EXECUTE nosuch",
    "CREATE PUBLICATION p4 FOR TABLE n",
    "CREATE TABLE c (x, y) AS EXECUTE q",
    "CREATE PUBLICATION p5 FOR TABLE c (x)",
    "CREATE PUBLICATION p6 FOR TABLE c (a)",
    "PREPARE u AS UPDATE t SET a = 1 RETURNING a",
    "CREATE TABLE w AS EXECUTE u",
    "CREATE PUBLICATION p7 FOR TABLE w",
    "PREPARE r(int) AS SELECT $1 AS z, now() AS n",
    "CREATE TABLE v AS EXECUTE r(1) WITH NO DATA",
    "CREATE PUBLICATION p8 FOR TABLE v (z, n)",
    "DEALLOCATE q",
    "CREATE TABLE gone AS EXECUTE q",
    "CREATE PUBLICATION p9 FOR TABLE gone",
    "DISCARD ALL",
    "CREATE TABLE later AS EXECUTE r(1)",
    "CREATE PUBLICATION p10 FOR TABLE later",
)
TOLD = {
    "p2": ("42703", 'column "nosuch" of relation "t" does not exist'),
    "p3": ("42883", "operator does not exist: text > integer"),
    "p4": ("42P01", 'relation "n" does not exist'),
    "p6": ("42703", 'column "a" of relation "c" does not exist'),
    "p7": ("42P01", 'relation "w" does not exist'),
    "p9": ("42P01", 'relation "gone" does not exist'),
    "p10": ("42P01", 'relation "later" does not exist'),
}


def test_the_columns_are_those_of_the_query() -> None:
    assert answers(lint(";\n".join(SCRIPT), complete=True)) == [(*told, "certain") for told in TOLD.values()]


@pytest.mark.server
def test_servers_say_so(servers: Servers) -> None:
    for server in servers.values():
        with server.database() as name, server.connect(name) as connection:
            results = {sql: execute(connection, sql) for sql in SCRIPT}
        refused = {
            sql.split()[2]: (answer.sqlstate, answer.message) for sql, answer in results.items() if not answer.ok
        }
        assert {name: told for name, told in refused.items() if name.startswith("p")} == TOLD


def test_what_another_file_may_have_prepared_is_not_seen() -> None:
    assert lint("CREATE TABLE t AS EXECUTE q; CREATE PUBLICATION p FOR TABLE t (a)") == []
