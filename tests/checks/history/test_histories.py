"""Random histories: what is said of them holds on a server, and what a server does is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import run
from tests.support.servers import Servers, execute

HISTORIES, LENGTH = 12, 100
TABLES = ("a", "b", "c", "s.d", "s.e")
ACTIONS = ("CASCADE", "SET NULL", "SET DEFAULT", "NO ACTION")


def table_definition(random: Random, table: str) -> str:
    key = random.choice(("id int PRIMARY KEY", "id int PRIMARY KEY", "id int NOT NULL UNIQUE"))
    columns = [key, "n int NOT NULL DEFAULT 1"]
    if random.random() < 0.7:
        columns.append(f"r int REFERENCES {random.choice(TABLES)} (id) {actions(random)}")
    return f"CREATE TABLE {table} ({', '.join(columns)})"


def actions(random: Random) -> str:
    return f"ON DELETE {random.choice(ACTIONS)} ON UPDATE {random.choice(ACTIONS)}"


def statement(random: Random) -> str:
    """Any of the statements that histories of publications are made of, about few names."""
    table, other, name = random.choice(TABLES), random.choice(TABLES), random.choice("pq")
    short, schema = table.rpartition(".")[2], "s." if "." in table else ""
    members = random.choice(
        (f"TABLE {table}", f"TABLE {table}, {other}", f"TABLE {table} (id, n)", "TABLES IN SCHEMA s")
    )
    options = random.choice(("", "", " WITH (publish = 'insert')", " WITH (publish = 'insert, delete')"))
    return random.choice(
        (
            table_definition(random, table),
            table_definition(random, table),
            f"ALTER TABLE {table} ADD COLUMN r int REFERENCES {other} (id) {actions(random)}",
            f"ALTER TABLE {table} DROP COLUMN r",
            f"DROP TABLE {table}",
            f"ALTER TABLE {table} RENAME TO {random.choice('de' if schema else 'abc')}",
            f"CREATE UNIQUE INDEX {short}_n ON {table} (n)",
            f"ALTER TABLE {table} REPLICA IDENTITY USING INDEX {short}_n",
            f"ALTER TABLE {table} REPLICA IDENTITY {random.choice(('DEFAULT', 'FULL', 'NOTHING'))}",
            f"DROP INDEX {schema}{short}_n",
            random.choice(("CREATE SCHEMA s", "DROP SCHEMA s CASCADE")),
            f"CREATE PUBLICATION {name} FOR {members}{options}",
            f"CREATE PUBLICATION {name} FOR TABLE {table} WHERE (id > 0){options}",
            random.choice((f"CREATE PUBLICATION {name} FOR ALL TABLES", f"CREATE PUBLICATION {name}")) + options,
            f"DROP PUBLICATION {name}",
            f"ALTER PUBLICATION {name} ADD {members}",
            f"ALTER PUBLICATION {name} ADD {members}",
            f"ALTER PUBLICATION {name} SET {members}",
            f"ALTER PUBLICATION {name} DROP TABLE {table}",
            f"ALTER PUBLICATION {name} RENAME TO {random.choice('pqo')}",
            f"ALTER SCHEMA {random.choice('so')} RENAME TO {random.choice('so')}",
        )
    )


def history(connection: psycopg.Connection[Any], random: Random) -> Iterator[str]:
    """Statements that the server accepted, one after the other."""
    opening = ("CREATE SCHEMA s", *(table_definition(random, table) for table in TABLES), "CREATE PUBLICATION p")
    for sql in opening:
        if execute(connection, sql).ok:
            yield sql
    closing = f"CREATE PUBLICATION z FOR {random.choice(('ALL TABLES', 'TABLE a, b, c', 'TABLES IN SCHEMA s'))}"
    for sql in (*(statement(random) for _ in range(LENGTH)), closing):
        if execute(connection, sql).ok:
            yield sql


def rows(connection: psycopg.Connection[Any], sql: str) -> list[tuple[Any, ...]]:
    answer = execute(connection, sql)
    assert answer.rows is not None, answer
    return list(answer.rows)


def stopped_elsewhere(connection: psycopg.Connection[Any], table: str, sql: str) -> bool:
    """Whether a statement about a table that has a row and that nothing refers to is refused at another table."""
    execute(connection, "BEGIN")
    inserted = execute(connection, f"INSERT INTO {table} (id) VALUES (1)")
    assert inserted.ok, inserted
    answer = execute(connection, sql)
    execute(connection, "ROLLBACK")
    named = re.search(r'cannot (?:update|delete from) table "(.+?)"', answer.message or "")
    return named is not None and named[1] != table.rpartition(".")[2]


def cascades_hold(connection: psycopg.Connection[Any], tables: list[str], findings: list[Diagnostic]) -> None:
    told = {(finding.object, verb) for finding in findings for verb in ("DELETE", "UPDATE") if says(finding, verb)}
    stopped = set()
    for table in tables:
        for verb, sql in (("DELETE", f"DELETE FROM {table}"), ("UPDATE", f"UPDATE {table} SET id = 2")):
            if stopped_elsewhere(connection, table, sql):
                stopped.add((table, verb))
    assert told == stopped


def says(diagnostic: Diagnostic, verb: str) -> bool:
    head = diagnostic.message.partition(" will fail")[0]
    return diagnostic.severity == "error" and verb in head


NAMED = "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE "
OURS = NAMED + "c.relkind = 'r' AND n.nspname IN ('public', 's', 'o') ORDER BY 1"
UNIDENTIFIED = NAMED + (
    "c.relreplident = 'i' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisreplident)"
)
SENT = "SELECT pubname, schemaname || '.' || tablename FROM pg_publication_tables"


def losses_hold(connection: psycopg.Connection[Any], findings: list[Diagnostic]) -> None:
    """A table that is said to be lost is there and not sent."""
    sent, there = set(rows(connection, SENT)), {row[0] for row in rows(connection, OURS)}
    for finding in findings:
        if finding.rule == "PUB712" and finding.message.startswith("changes of"):
            assert {(publication, finding.object) for publication in finding.publications} <= sent, finding.message
        of_a_table = finding.object is not None and not re.search(
            "row filter|column list|without publish", finding.message
        )
        if of_a_table and finding.rule in ("PUB705", "PUB709", "PUB710"):
            assert finding.object in there, finding.message
            assert (finding.publication, finding.object) not in sent, finding.message


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_what_is_said_of_random_histories_holds(servers: Servers, major: int) -> None:
    server = servers[major]
    for seed in range(HISTORIES):
        with server.database() as name, server.connect(name) as connection:
            # Others for each major: what differs between them is tested elsewhere.
            told = list(history(connection, Random(seed * 100 + major)))
            findings = list(run(";\n".join(told), postgres=(major,), select=("PUB",)).diagnostics)
            assert not [finding for finding in findings if finding.refused], told
            cascades_hold(
                connection,
                [str(row[0]) for row in rows(connection, OURS)],
                [finding for finding in findings if finding.rule == "PUB306"],
            )
            losses_hold(connection, findings)
            gone = {finding.object for finding in findings if finding.rule == "PUB711"}
            assert gone <= {row[0] for row in rows(connection, UNIDENTIFIED)}, told
