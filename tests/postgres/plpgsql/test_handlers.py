"""Blocks whose handlers take what queries and rows end in: what they did may never have happened (servers 15 to 18)."""

from __future__ import annotations

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import lint

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL);\n"
PUBLICATION = "CREATE PUBLICATION p FOR TABLE t WHERE (a = 1);"


def refused_writes(script: str) -> list[Diagnostic]:
    return [finding for finding in lint(script, complete=True) if finding.rule == "PUB301"]


@pytest.mark.parametrize(
    "failing",
    [
        "INSERT INTO t VALUES (1, 1), (1, 1);",
        "PERFORM 1 / count(*) FROM t;",
        "EXECUTE 'INSERT INTO t VALUES (1, 1), (1, 1)';",
        "IF 1 / (SELECT count(*) FROM t) > 1 THEN NULL; END IF;",
    ],
)
def test_what_a_handler_takes_back_perhaps_is_only_assumed(failing: str) -> None:
    # The servers roll the block back: there is no publication, and no write is refused.
    block = f"DO $$ BEGIN {PUBLICATION} {failing} EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    assert {finding.certainty for finding in refused_writes(TABLE + block)} == {"assumed"}
    assert not [
        finding
        for finding in lint(TABLE + block + "CREATE PUBLICATION p;", complete=True)
        if finding.rule == "PUB105" and finding.certainty == "certain"
    ]


@pytest.mark.parametrize(
    "failing", ["PERFORM 1 / 0;", "RAISE NOTICE '%', 1 / 0;", "PERFORM 'x'::int;", "PERFORM missing FROM t;"]
)
def test_what_a_handler_takes_back_for_certain_never_was(failing: str) -> None:
    block = f"DO $$ BEGIN {PUBLICATION} {failing} EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    assert not refused_writes(TABLE + block)


def test_what_a_handler_cannot_take_ends_the_block() -> None:
    # The servers roll all of it back here, but that rests on the rows.
    block = (
        f"DO $$ BEGIN {PUBLICATION} INSERT INTO t VALUES (1, 1), (1, 1);"
        " EXCEPTION WHEN duplicate_object THEN NULL; END $$;\n"
    )
    assert {finding.certainty for finding in refused_writes(TABLE + block)} == {"assumed"}


@pytest.mark.parametrize("failing", ["PERFORM 1 / 0;", "PERFORM 1 / count(*) FROM t;"])
def test_an_identity_given_in_such_a_block_may_be_that_of_before(failing: str) -> None:
    # The servers refuse UPDATE and DELETE: FULL is rolled back.
    block = f"DO $$ BEGIN ALTER TABLE t REPLICA IDENTITY FULL; {failing} EXCEPTION WHEN OTHERS THEN NULL; END $$;\n"
    certainty = "certain" if "1 / 0" in failing else "assumed"
    assert {finding.certainty for finding in refused_writes(TABLE + PUBLICATION + block)} == {certainty}


def test_a_publication_dropped_in_such_a_block_may_still_be_there() -> None:
    block = "DO $$ BEGIN DROP PUBLICATION p; PERFORM sqrt(-1); EXCEPTION WHEN OTHERS THEN END $$;\n"
    findings = lint(TABLE + PUBLICATION + block + "ALTER PUBLICATION p SET (publish = 'insert');", complete=True)
    assert not [finding for finding in findings if finding.severity == "error" and finding.certainty == "certain"]


@pytest.mark.parametrize(
    "failing",
    [
        "PERFORM 1 / 0;",
        "PERFORM 'x'::int;",
        "PERFORM 'nosuch'::regclass;",
        "PERFORM * FROM nosuch;",
        "PERFORM nosuch();",
        "INSERT INTO nosuch VALUES (1);",
        "UPDATE s.nosuch SET a = 1;",
        "FOR i IN 1..NULL LOOP NULL; END LOOP;",
    ],
)
def test_what_certainly_fails_takes_all_back(failing: str) -> None:
    block = f"DO $$ BEGIN {PUBLICATION} {failing} END $$;\n"
    findings = lint(TABLE + block + "CREATE PUBLICATION p;", complete=True)
    assert {finding.rule for finding in findings if finding.server is not None} == {"PUB137"}


@pytest.mark.parametrize(
    "harmless",
    [
        "PERFORM 7 / 2;",
        "PERFORM '7'::int;",
        "PERFORM 't'::regclass;",
        "PERFORM * FROM t;",
        "WITH c AS (SELECT 1) SELECT count(*) INTO n FROM c;",
        "PERFORM * FROM pg_class, information_schema.tables, generate_series(1, 2) g;",
    ],
)
def test_what_does_not_fail_takes_nothing_back(harmless: str) -> None:
    block = f"DO $$ DECLARE n int; BEGIN {PUBLICATION} {harmless} END $$;\n"
    assert {finding.certainty for finding in refused_writes(TABLE + block)} == {"certain"}
