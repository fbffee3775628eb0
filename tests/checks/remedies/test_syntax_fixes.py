"""Statements that the grammar refuses, written as they are meant: the servers accept what comes of it."""

from __future__ import annotations

import pytest

from pubcheck.checks.remedies.syntax_fixes import applied, correction
from pubcheck.postgres.parse import SyntaxRefused, parse
from tests.support.servers import Servers, execute, prepare

GROUND = (
    "CREATE SCHEMA s",
    "CREATE SCHEMA s2",
    "CREATE TABLE a (id int PRIMARY KEY, b int)",
    "CREATE TABLE b (id int PRIMARY KEY)",
    "CREATE TABLE c (id int PRIMARY KEY)",
    "CREATE TABLE sequences (id int PRIMARY KEY)",
    "CREATE PUBLICATION q FOR TABLE c",
)

SAFE = {
    "CREATE PUBLICATION p FOR ALL TABLES IN SCHEMA s": "CREATE PUBLICATION p FOR TABLES IN SCHEMA s",
    "create publication p for all tables in schema s, s2": "create publication p for tables in schema s, s2",
    "CREATE PUBLICATION p FOR ALL TABLES IN SCHEMA s, ALL TABLES IN SCHEMA s2": (
        "CREATE PUBLICATION p FOR TABLES IN SCHEMA s, TABLES IN SCHEMA s2"
    ),
    "CREATE PUBLICATION p FOR ALL\n  TABLES IN SCHEMA CURRENT_SCHEMA": (
        "CREATE PUBLICATION p FOR TABLES IN SCHEMA CURRENT_SCHEMA"
    ),
    "ALTER PUBLICATION q ADD ALL TABLES IN SCHEMA s": "ALTER PUBLICATION q ADD TABLES IN SCHEMA s",
    "CREATE PUBLICATION p FOR TABLES a, b": "CREATE PUBLICATION p FOR TABLE a, b",
    "CREATE PUBLICATION p FOR tables a (id, b) WHERE (id > 1)": (
        "CREATE PUBLICATION p FOR table a (id, b) WHERE (id > 1)"
    ),
    "ALTER PUBLICATION q ADD TABLES a": "ALTER PUBLICATION q ADD TABLE a",
    "ALTER PUBLICATION q SET TABLES a, b": "ALTER PUBLICATION q SET TABLE a, b",
    "CREATE PUBLICATION p FOR TABLE IN SCHEMA s": "CREATE PUBLICATION p FOR TABLES IN SCHEMA s",
    "CREATE PUBLICATION p FOR SCHEMA s, s2": "CREATE PUBLICATION p FOR TABLES IN SCHEMA s, s2",
    "ALTER PUBLICATION q ADD SCHEMA s": "ALTER PUBLICATION q ADD TABLES IN SCHEMA s",
    "CREATE PUBLICATION p FOR TABLE a WHERE id > 1": "CREATE PUBLICATION p FOR TABLE a WHERE (id > 1)",
    "CREATE PUBLICATION p FOR TABLE a (id, b) WHERE (id > 1) AND (b < 2) WITH (publish = 'insert')": (
        "CREATE PUBLICATION p FOR TABLE a (id, b) WHERE ((id > 1) AND (b < 2)) WITH (publish = 'insert')"
    ),
    "CREATE PUBLICATION p FOR TABLE a WHERE id = ANY (ARRAY[1, 2]), b WHERE (id > 1), c WHERE id IN (1)": (
        "CREATE PUBLICATION p FOR TABLE a WHERE (id = ANY (ARRAY[1, 2])), b WHERE (id > 1), c WHERE (id IN (1))"
    ),
    "CREATE PUBLICATION p FOR TABLE a WHERE '2020-01-01'::timestamp with time zone IS NOT NULL -- a comment": (
        "CREATE PUBLICATION p FOR TABLE a WHERE ('2020-01-01'::timestamp with time zone IS NOT NULL) -- a comment"
    ),
    "ALTER PUBLICATION q ADD TABLE a WHERE id > 1": "ALTER PUBLICATION q ADD TABLE a WHERE (id > 1)",
    "ALTER PUBLICATION q SET TABLE a WHERE b IS NULL AND (id) > 1": (
        "ALTER PUBLICATION q SET TABLE a WHERE (b IS NULL AND (id) > 1)"
    ),
}

GUARD = (
    "DO $pubcheck$\nBEGIN\n  IF EXISTS (SELECT FROM pg_publication WHERE pubname = '{}') THEN\n    {};\n  END IF;\n"
    "END\n$pubcheck$"
)
BLOCK = "DO $pubcheck$\nBEGIN\n  {};\nEXCEPTION WHEN {} THEN NULL;\nEND\n$pubcheck$"

UNSAFE = {
    "CREATE PUBLICATION IF NOT EXISTS p FOR TABLE a, b": BLOCK.format(
        "CREATE PUBLICATION p FOR TABLE a, b", "duplicate_object"
    ),
    "CREATE PUBLICATION IF NOT EXISTS q": BLOCK.format("CREATE PUBLICATION q", "duplicate_object"),
    "ALTER PUBLICATION q ADD TABLE IF NOT EXISTS c": BLOCK.format(
        "ALTER PUBLICATION q ADD TABLE c", "duplicate_object"
    ),
    "ALTER PUBLICATION q ADD TABLE IF NOT EXISTS a (id, b)": BLOCK.format(
        "ALTER PUBLICATION q ADD TABLE a (id, b)", "duplicate_object"
    ),
    "ALTER PUBLICATION q ADD IF NOT EXISTS a": BLOCK.format("ALTER PUBLICATION q ADD TABLE a", "duplicate_object"),
    "ALTER PUBLICATION q DROP TABLE IF EXISTS a": BLOCK.format("ALTER PUBLICATION q DROP TABLE a", "undefined_object"),
    "CREATE OR REPLACE PUBLICATION q FOR TABLE a": "DROP PUBLICATION IF EXISTS q;\nCREATE PUBLICATION q FOR TABLE a",
    'CREATE OR REPLACE PUBLICATION "Q" FOR TABLE a': (
        'DROP PUBLICATION IF EXISTS "Q";\nCREATE PUBLICATION "Q" FOR TABLE a'
    ),
    "CREATE PUBLICATION p FOR a, b": "CREATE PUBLICATION p FOR TABLE a, b",
    "ALTER PUBLICATION q ADD a": "ALTER PUBLICATION q ADD TABLE a",
    "ALTER PUBLICATION q SET SCHEMA s": "ALTER PUBLICATION q SET TABLES IN SCHEMA s",
    "CREATE PUBLICATION p FOR TABLE a, SCHEMA s": "CREATE PUBLICATION p FOR TABLE a, TABLES IN SCHEMA s",
    "ALTER PUBLICATION IF EXISTS q ADD TABLE a": GUARD.format("q", "ALTER PUBLICATION q ADD TABLE a"),
    'alter publication if exists "Q\'s" drop table a, b': GUARD.format(
        "Q''s", 'alter publication "Q\'s" drop table a, b'
    ),
    "ALTER PUBLICATION IF EXISTS gone RENAME TO q": GUARD.format("gone", "ALTER PUBLICATION gone RENAME TO q"),
    "CREATE PUBLICATION p FOR a": "CREATE PUBLICATION p FOR TABLE a",
    "create publicaton p FOR TABLE a": "create publication p FOR TABLE a",
    "CRAETE PUBLICATION p FOR TABLE a": "CREATE PUBLICATION p FOR TABLE a",
    'CREATE PUBLICATION p FOR "sequences"': 'CREATE PUBLICATION p FOR TABLE "sequences"',
    "/* é */ CREATE PUBLICATION IF NOT EXISTS p": "/* é */ " + BLOCK.format("CREATE PUBLICATION p", "duplicate_object"),
}

UNCLEAR = (
    "CREATE PUBLICATION IF NOT EXISTS",
    "CREATE PUBLICATION p FOR TABLES",
    "CREATE PUBLICATION p FOR TABLES a WHERE id > 1",
    "CREATE PUBLICATION p FOR SEQUENCE a",
    "CREATE PUBLICATION p FOR SEQUENCES",
    "CREATE PUBLICATION p FOR VIEWS",
    "ALTER PUBLICATION q ADD SEQUENCES",
    "ALTER PUBLICATION q SET EVERYTHING",
    "ALTER PUBLICATION q DROP TABLE a WHERE id > 1",
    "CREATE PUBLICATION p FOR ALL TABLES WHERE id > 1",
    "CREATE PUBLICATION p FOR TABLES IN SCHEMA s WHERE id > 1",
    "CREATE PUBLICATION p FOR TABLE a WHERE id > 1 (id)",
    "CREATE PUBLICATION p FOR TABLE a WHERE",
    "ALTER PUBLICATION IF EXISTS q",
    "CREATE PUBLICATION p FOR ALL TABLES EXCEPT (TABLE a)",
    "CREATE PUBLICATION p FOR ALL TABLES IN SCHEMA s WHERE (id > 1)",
    "ALTER PUBLICATION q ADD TABLE IF NOT EXISTS a, b",
    "ALTER PUBLICATION q SET ALL TABLES",
)


def corrected(sql: str) -> str | None:
    fix = correction(sql)
    return None if fix is None else applied(fix, sql)


@pytest.mark.parametrize("sql", [*SAFE, *UNSAFE, *UNCLEAR])
def test_the_grammar_refuses_what_is_corrected(sql: str) -> None:
    with pytest.raises(SyntaxRefused):
        parse(sql)


@pytest.mark.parametrize("sql", SAFE)
def test_what_can_mean_one_thing_only_is_corrected_safely(sql: str) -> None:
    fix = correction(sql)
    assert fix is not None
    assert (applied(fix, sql), fix.safe) == (SAFE[sql], True)
    assert applied(fix, f"{sql};") == f"{SAFE[sql]};"
    assert corrected(SAFE[sql]) is None
    parse(SAFE[sql])


@pytest.mark.parametrize("sql", UNSAFE)
def test_what_is_likely_meant_is_corrected_unsafely(sql: str) -> None:
    fix = correction(sql)
    assert fix is not None
    assert (applied(fix, sql), fix.safe) == (UNSAFE[sql], False)


@pytest.mark.parametrize("sql", UNCLEAR)
def test_what_is_not_clear_is_left_alone(sql: str) -> None:
    assert corrected(sql) is None


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_servers_accept_every_correction(servers: Servers, major: int) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as connection:
        prepare(connection, GROUND)
        for sql in (*SAFE.values(), *UNSAFE.values()):
            # One transaction for several statements is none for a block that catches: each has its own.
            answer = execute(connection, f"BEGIN; {sql}; ROLLBACK")
            assert answer.ok, (sql, answer)
