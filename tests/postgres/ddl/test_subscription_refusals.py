"""Statements about subscriptions that the server refuses before it connects, as servers 15 to 18 answer them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from pubcheck.diagnostics import Diagnostic
from pubcheck.postgres.conninfo import complaint
from pubcheck.postgres.versions import BY_NUMBER
from tests.support.linting import covered, lint
from tests.support.servers import Answer, Servers, execute
from tests.support.subscribing import no_subscription_left

NOWHERE = "host=127.0.0.1 port=1 dbname=x"
"""Nobody listens there, so that whoever connects is refused at once."""
MADE = f"CREATE SUBSCRIPTION s CONNECTION '{NOWHERE}' PUBLICATION p WITH (connect = false)"
BARE = MADE.replace("false)", "false, slot_name = NONE)")
ENABLED = "ALTER SUBSCRIPTION s ENABLE"


EXCLUSIVE = " are mutually exclusive options"
DISABLED = " is not allowed for disabled subscriptions"
IN_BLOCK = " cannot run inside a transaction block"
SYNTAX = "invalid connection string syntax: "


def create(options: str = "", conninfo: str = NOWHERE, name: str = "s") -> str:
    more = f", {options}" if options else ""
    return f"CREATE SUBSCRIPTION {name} CONNECTION $${conninfo}$$ PUBLICATION p WITH (connect = false{more})"


def told(*statements: str, major: int = 18, complete: bool = False) -> list[Diagnostic]:
    """The refusals of the last statement."""
    findings = lint(";\n".join(statements), postgres=(major,), complete=complete)
    last = len(statements) - 1
    return [finding for finding in findings if finding.statement and finding.statement.index == last and finding.server]


def refusals(*statements: str, major: int = 18, complete: bool = False) -> list[tuple[str, str, str]]:
    findings = told(*statements, major=major, complete=complete)
    return [
        (finding.server.sqlstate, finding.server.message, finding.certainty) for finding in findings if finding.server
    ]


@pytest.mark.parametrize(
    ("statements", "sqlstate", "message"),
    [
        ([create("enabled")], "42601", f"connect = false and enabled = true{EXCLUSIVE}"),
        ([create("create_slot = on")], "42601", f"connect = false and create_slot = true{EXCLUSIVE}"),
        ([create("copy_data = true")], "42601", f"connect = false and copy_data = true{EXCLUSIVE}"),
        ([create("foo = 1")], "42601", 'unrecognized subscription parameter: "foo"'),
        ([create("binary, binary")], "42601", "conflicting or redundant options"),
        ([create("slot_name = 'a-b'")], "42602", 'replication slot name "a-b" contains invalid character'),
        ([create("origin = here")], "22023", 'unrecognized origin value: "here"'),
        ([create(conninfo="dbname = x foo = 1")], "42601", f'{SYNTAX}invalid connection option "foo"\n'),
        ([MADE, MADE], "42710", 'subscription "s" already exists'),
        ([MADE, "ALTER SUBSCRIPTION s REFRESH PUBLICATION"], "55000", f"ALTER SUBSCRIPTION ... REFRESH{DISABLED}"),
        ([MADE, "ALTER SUBSCRIPTION s ADD PUBLICATION q"], "55000", f"ALTER SUBSCRIPTION with refresh{DISABLED}"),
        (
            [MADE, ENABLED, "BEGIN", "ALTER SUBSCRIPTION s REFRESH PUBLICATION"],
            "25001",
            f"ALTER SUBSCRIPTION ... REFRESH{IN_BLOCK}",
        ),
        ([MADE, "BEGIN", "DROP SUBSCRIPTION s"], "25001", f"DROP SUBSCRIPTION{IN_BLOCK}"),
        (
            [MADE, "ALTER SUBSCRIPTION s DROP PUBLICATION p"],
            "42P17",
            "cannot drop all the publications from a subscription",
        ),
        ([BARE, ENABLED], "55000", "cannot enable subscription that does not have a slot name"),
        ([BARE, "DROP SUBSCRIPTION s", "DROP SUBSCRIPTION s"], "42704", 'subscription "s" does not exist'),
        (
            ["BEGIN", MADE.replace("connect = false", "two_phase")],
            "25001",
            f"CREATE SUBSCRIPTION ... WITH (create_slot = true){IN_BLOCK}",
        ),
    ],
)
def test_what_needs_no_connection_is_certain(statements: list[str], sqlstate: str, message: str) -> None:
    assert refusals(*statements) == [(sqlstate, message, "certain")]


@pytest.mark.parametrize(
    ("option", "since"),
    [("origin = none", 16), ("run_as_owner", 16), ("password_required = false", 16), ("failover", 17)],
)
def test_options_came_with_a_major(option: str, since: int) -> None:
    name = option.partition(" ")[0]
    assert refusals(create(option), major=since) == []
    assert refusals(create(option), major=since - 1) == [
        ("42601", f'unrecognized subscription parameter: "{name}"', "certain")
    ]


def test_what_rests_on_a_connection_is_assumed() -> None:
    connecting = "CREATE SUBSCRIPTION s CONNECTION 'dbname=x' PUBLICATION p"
    assert refusals(connecting) == []
    assert [certainty for _, _, certainty in refusals(connecting, connecting)] == ["assumed"]
    assert [certainty for _, _, certainty in refusals(connecting, "BEGIN", "DROP SUBSCRIPTION s")] == ["assumed"]
    # The slot of one that was made without a connection is on a publisher all the same.
    assert refusals(MADE, "DROP SUBSCRIPTION s", "ALTER SUBSCRIPTION s ENABLE")[0][2] == "assumed"


def test_a_subscription_that_is_not_seen_is_missing_only_where_the_files_are_complete() -> None:
    assert refusals("ALTER SUBSCRIPTION s ENABLE") == []
    assert refusals("ALTER SUBSCRIPTION s ENABLE", complete=True) == [
        ("42704", 'subscription "s" does not exist', "certain")
    ]
    assert [certainty for _, _, certainty in refusals("ALTER SUBSCRIPTION s SET (foo)")] == ["assumed"]


def test_files_may_be_of_several_subscribers() -> None:
    (finding,) = (
        diagnostic for diagnostic in lint(f"{MADE};", f"{MADE};") if diagnostic.name == "subscription-refused"
    )
    assert (finding.certainty, finding.span.source.label) == ("assumed", "2.sql")


@pytest.mark.parametrize("text", ["...", "${DSN}", "{{ dsn }}", ":conninfo", "<connection string>", "%(dsn)s x"])
def test_a_text_that_stands_for_a_connection_string_is_no_certain_error(text: str) -> None:
    assert "certain" not in [certainty for _, _, certainty in refusals(create(conninfo=text))]


def test_an_option_may_be_an_extensions() -> None:
    assert [certainty for _, _, certainty in refusals(create("citus_use_authinfo = true"))] == ["assumed"]
    assert [certainty for _, _, certainty in refusals("CREATE EXTENSION citus", create("foo"))] == ["assumed"]


def test_only_the_owner_may_change_a_subscription() -> None:
    other = ["CREATE ROLE app", MADE, "SET ROLE app"]
    for statement in ("ALTER SUBSCRIPTION s RENAME TO t", "ALTER SUBSCRIPTION s SET (foo)", "DROP SUBSCRIPTION s"):
        assert refusals(*other, statement) == [("42501", "must be owner of subscription s", "certain")]
    statements = ["CREATE ROLE app", MADE, "ALTER SUBSCRIPTION s OWNER TO app", "SET ROLE app"]
    assert refusals(*statements, "ALTER SUBSCRIPTION s DISABLE") == []
    # A new name takes the right to create one.
    assert [answer[0] for answer in refusals(*statements, "ALTER SUBSCRIPTION s RENAME TO t")] == ["42501"]


def test_the_place_is_the_option_or_the_name() -> None:
    (finding,) = told(create("binary = maybe"))
    assert covered(finding.span) == "binary"
    (finding,) = told(MADE, MADE)
    assert (covered(finding.span), finding.phase, finding.rule) == ("s", "ddl", "PUB140")


# Random statements.

HISTORIES, LENGTH, CONNINFOS = 30, 30, 150
OPTIONS = (
    *("enabled", "enabled = false", "create_slot = true", "create_slot = false", "copy_data = true", "copy_data = off"),
    *(
        "slot_name = none",
        "slot_name = 'none'",
        "slot_name = NONE",
        "slot_name = other",
        "slot_name = 'A'",
        "slot_name",
    ),
    *("slot_name = ''", f"slot_name = '{'a' * 64}'", "synchronous_commit = local", "synchronous_commit = 'x'"),
    *("synchronous_commit", "binary", "binary = 2", "binary = 'ON'", "streaming = parallel", "streaming = on"),
    *("streaming = perhaps", "streaming = 3", "two_phase", "two_phase = false", "two_phase = 'x'", "disable_on_error"),
    *("origin = any", "origin = 'NONE'", "origin = me", "origin", "password_required", "run_as_owner = false"),
    *("failover", "failover = false", "failover = q", "refresh = false", "refresh", "lsn = '0/1'", "lsn = none"),
    *("lsn = '0/0'", "lsn = 'x/y'", "publish = 'insert'", "foo", '"Binary"', "connect = false", "connect = x"),
)
PUBLICATIONS = ("p", "q", "q, r", "p, q", "p, p")


def statement(random: Random) -> str:
    name = random.choice(("s", "s", "t"))
    chosen = ", ".join(random.choice(OPTIONS) for _ in range(random.choice((1, 1, 2, 3))))
    publications = random.choice(PUBLICATIONS)
    quiet = random.choice((" WITH (refresh = false)", " WITH (refresh = false)", "", f" WITH ({chosen})"))
    verb = random.choice(("SET", "ADD", "DROP"))
    return random.choice(
        (
            create(chosen if random.random() < 0.6 else "", name=name),
            create(name=name).replace("PUBLICATION p", f"PUBLICATION {publications}"),
            create(name=name),
            create("slot_name = NONE", name=name),
            create(name=name).replace("connect = false", chosen),
            f"ALTER SUBSCRIPTION {name} SET ({chosen})",
            f"ALTER SUBSCRIPTION {name} SET (slot_name = {random.choice(('NONE', 'again'))})",
            f"ALTER SUBSCRIPTION {name} {random.choice(('ENABLE', 'DISABLE', 'DISABLE'))}",
            f"ALTER SUBSCRIPTION {name} {verb} PUBLICATION {publications}{quiet}",
            f"ALTER SUBSCRIPTION {name} REFRESH PUBLICATION{random.choice(('', f' WITH ({chosen})'))}",
            f"ALTER SUBSCRIPTION {name} SKIP ({random.choice(OPTIONS)})",
            f"ALTER SUBSCRIPTION {name} RENAME TO {random.choice('st')}",
            f"ALTER SUBSCRIPTION {name} CONNECTION '{random.choice((NOWHERE, 'foo', 'host=a bar=1'))}'",
            f"DROP SUBSCRIPTION {random.choice(('', 'IF EXISTS '))}{name}",
            "BEGIN",
            "COMMIT",
        )
    )


def history(connection: psycopg.Connection[Any], random: Random) -> Iterator[tuple[str, Answer]]:
    """Statements and the answers, without those that needed the publisher."""
    for _ in range(LENGTH):
        sql = statement(random)
        answer = execute(connection, sql)
        if answer.sqlstate not in ("08006", "25P02"):
            yield sql, answer
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            yield "COMMIT", execute(connection, "ROLLBACK")
            # What the transaction did before is gone, which the files do not say.
            return


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_random_statements_are_refused_as_servers_refuse_them(servers: Servers, major: int) -> None:
    server = servers[major]
    refused = certain = 0
    with server.database() as database, server.connect(database) as connection:
        for seed in range(HISTORIES):
            with no_subscription_left(connection):
                asked = list(history(connection, Random(seed * 100 + major)))
                execute(connection, "ROLLBACK")
            text = ";\n".join(sql for sql, _ in asked)
            findings = {
                diagnostic.statement.index: diagnostic
                for diagnostic in lint(text, complete=True, postgres=(major,))
                if diagnostic.statement
                and diagnostic.server
                and (diagnostic.phase == "ddl" or diagnostic.server.sqlstate == "42710")
            }
            for number, (sql, answer) in enumerate(asked):
                finding = findings.get(number)
                refused += not answer.ok
                if finding is None or finding.certainty == "assumed":
                    assert answer.ok or finding is not None, (seed, sql, answer)
                    continue
                certain += 1
                assert finding.server is not None
                parts = (finding.server.sqlstate, finding.server.message, finding.server.detail, finding.server.hint)
                assert (answer.sqlstate, answer.message, answer.detail, answer.hint) == parts, (seed, sql)
                assert answer.position == finding.server.position, (seed, sql)
    assert certain > refused * 0.8


PIECES = (
    "host",
    "port",
    "foo",
    "=",
    "= ",
    "'",
    "''",
    "\\",
    "\\'",
    " ",
    "a",
    "dbname",
    "require_auth",
    "\n",
    "user=u",
    "ü",
)


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_connection_strings_are_read_as_libpq_reads_them(servers: Servers, major: int) -> None:
    random, server = Random(major), servers[major]
    with server.database() as database, server.connect(database) as connection:
        for _ in range(CONNINFOS):
            text = "".join(random.choice(PIECES) for _ in range(random.randint(1, 7)))
            with no_subscription_left(connection):
                answer = execute(connection, create(conninfo=text))
            wrong = complaint(text, BY_NUMBER[major])
            expected = None if wrong is None else f"invalid connection string syntax: {wrong}"
            assert answer.message == expected, text
