"""Explicit casts from value to type: pubcheck's result, or its error, is the server's."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import parse
from pubcheck.simulate.database import Database
from pubcheck.simulate.executor.expressions import Scope, compile_expression
from tests.support.servers import MAJORS, Servers

SETUP = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'x')"
VALUES = {
    "int4": ("0", "-5", "2147483647"),
    "int8": ("7", "9223372036854775807", "-92233720368547759"),
    "numeric": ("12.345", "-0.005", "1e5", "NaN", "99999999999999999"),
    "text": ("5", " 7 ", "x", "2024-01-05", "t"),
    "varchar": ("12.50",),
    "char(5)": ("ab", "  a "),
    "float8": ("1.5", "1e300", "0.30000000000000004"),
    "bool": ("t", "f"),
    "date": ("2024-02-29",),
    "timestamp": ("2024-02-29 12:00:00.5",),
    "uuid": ("00112233445566778899aabbccddeeff",),
    "money": ("$1,234.56", "-3"),
    "jsonb": ('{"b": 1, "a": [1.50]}', '"x"'),
    "interval": ("1 mon 2 days",),
    "mood": ("ok", "sad"),
    "int4[]": ("{1,NULL}", "[0:1]={5,6}"),
    "inet": ("10.0.0.1/8",),
    "bytea": ("\\x00ff",),
}
TARGETS = (
    "text", "int4", "numeric", "money", "bool", "varchar(3)", "char(4)", "float8", "date", "jsonb", "mood", "uuid",
    "int8", "name", "interval", "bytea", "int8[]", "text[]",
)  # fmt: skip
Answer = str | tuple[str | None, str | None]


def casts() -> Iterator[str]:
    for source, texts in VALUES.items():
        for text in texts:
            for target in TARGETS:
                yield f"('{text}'::{source})::{target}"


def of_server(conn: psycopg.Connection[tuple[str]], expression: str) -> Answer:
    try:
        row = conn.execute(f"SELECT format('%s', {expression})").fetchone()
    except psycopg.Error as error:
        return error.sqlstate, error.diag.message_primary
    assert row is not None
    return row[0]


def of_pubcheck(database: Database, expression: str) -> Answer | None:
    """None where it is not followed."""
    session, query = database.session("a"), f"SELECT {expression}"
    database.activate(session)
    session.catalog_session.begin_statement(0, 0, query)
    parsed = parse(query)
    assert parsed is not None
    scope = Scope(session)
    try:
        expr = scope.transform(parsed[1]["targetList"][0]["ResTarget"]["val"])
        assign_collations(scope, expr)
        value = compile_expression(session, scope, expr)({})
        return session.context().output.writer(expr.type)(value)
    except ServerError as error:
        return error.sqlstate, error.message
    except Unknowable:
        return None


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_casts_give_what_the_server_gives(major: int, servers: Servers) -> None:
    database, server, followed = Database(major, SETUP), servers[major], 0
    with server.database() as name, server.connect(name) as conn:
        conn.execute(SETUP)
        for expression in casts():
            ours = of_pubcheck(database, expression)
            if ours is not None:
                followed += 1
                assert ours == of_server(conn, expression), expression
    assert followed > 600
