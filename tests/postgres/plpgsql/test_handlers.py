"""Blocks whose handlers take what queries and rows end in: what they did may never have happened (servers 15 to 18)."""

from __future__ import annotations

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.linting import lint

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL);\n"
PUBLICATION = "CREATE PUBLICATION p FOR TABLE t WHERE (a = 1);"


def refused_writes(script: str) -> list[Diagnostic]:
    return [one for one in lint(script, complete=True) if one.rule == "PUB301"]


@pytest.mark.parametrize(
    "failing",
    [
        "INSERT INTO t VALUES (1, 1), (1, 1);",
        "PERFORM 1 / 0;",
        "RAISE NOTICE '%', 1 / 0;",
        "EXECUTE 'INSERT INTO t VALUES (1, 1), (1, 1)';",
        "IF 1 / (SELECT count(*) FROM t) > 1 THEN NULL; END IF;",
    ],
)
def test_what_a_handler_takes_back_perhaps_is_only_assumed(failing: str) -> None:
    # The servers roll the block back: there is no publication, and no write is refused.
    block = f"DO $$ BEGIN {PUBLICATION} {failing} EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    assert {one.certainty for one in refused_writes(TABLE + block)} == {"assumed"}
    assert not [
        one
        for one in lint(TABLE + block + "CREATE PUBLICATION p;", complete=True)
        if one.rule == "PUB105" and one.certainty == "certain"
    ]


def test_what_a_handler_cannot_take_is_certain() -> None:
    block = (
        f"DO $$ BEGIN {PUBLICATION} INSERT INTO t VALUES (1, 1), (1, 1);"
        " EXCEPTION WHEN duplicate_object THEN NULL; END $$;\n"
    )
    assert {one.certainty for one in refused_writes(TABLE + block)} == {"certain"}


def test_an_identity_given_in_such_a_block_may_be_that_of_before() -> None:
    # The servers refuse UPDATE and DELETE: FULL is rolled back.
    block = "DO $$ BEGIN ALTER TABLE t REPLICA IDENTITY FULL; PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    assert {one.certainty for one in refused_writes(TABLE + PUBLICATION + block)} == {"assumed"}


def test_a_publication_dropped_in_such_a_block_may_still_be_there() -> None:
    block = "DO $$ BEGIN DROP PUBLICATION p; PERFORM 1 / 0; EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    found = lint(TABLE + PUBLICATION + block + "ALTER PUBLICATION p SET (publish = 'insert');", complete=True)
    assert not [one for one in found if one.severity == "error" and one.certainty == "certain"]
