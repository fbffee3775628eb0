"""Where findings inside DO blocks stand: exact to the character, whatever quotes the body is in."""

from __future__ import annotations

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import covered, lint

TABLES = "CREATE TABLE t (id int PRIMARY KEY, a int, c text);\nCREATE PUBLICATION p FOR TABLE t;\n"


def refused(script: str) -> Diagnostic:
    (finding,) = [
        diagnostic
        for diagnostic in lint(TABLES + script, complete=True)
        if diagnostic.phase == "ddl" and diagnostic.server is not None
    ]
    return finding


@pytest.mark.parametrize(
    "block",
    [
        "DO $$ BEGIN CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND nope = 1); END $$",
        "DO $body$\nBEGIN\n  CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND nope = 1);\nEND\n$body$",
        "DO 'BEGIN CREATE PUBLICATION q FOR TABLE t WHERE (c = ''x'' AND nope = 1); END'",
        r"DO E'BEGIN\n CREATE PUBLICATION q FOR TABLE t WHERE (c = \'x\' AND nope = 1); END'",
        "DO $$ BEGIN PERFORM 'ünïcödé'; CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND nope = 1); END $$",
        "DO $$ BEGIN EXECUTE 'CREATE PUBLICATION q FOR TABLE t WHERE (c = ''x'' AND nope = 1)'; END $$",
        "DO $$ BEGIN EXECUTE $q$CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND nope = 1)$q$; END $$",
        "DO 'BEGIN EXECUTE ''CREATE PUBLICATION q FOR TABLE t WHERE (c = ''''x'''' AND nope = 1)''; END'",
        "DO $$ BEGIN IF true THEN BEGIN CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND nope = 1);"
        " EXCEPTION WHEN duplicate_object THEN NULL; END; END IF; END $$",
        "DO $a$ BEGIN EXECUTE 'DO $b$ BEGIN CREATE PUBLICATION q FOR TABLE t"
        " WHERE (c = ''x'' AND nope = 1); END $b$'; END $a$",
    ],
)
def test_a_refusal_points_into_the_block(block: str) -> None:
    finding = refused(block)
    assert covered(finding.span) == "nope"
    assert finding.statement is not None
    assert finding.statement.index == 2
    assert finding.statement.embedded
    assert finding.server is not None
    inner = "CREATE PUBLICATION q FOR TABLE t WHERE (c = 'x' AND "
    assert finding.server.position == len(inner) + 1


def test_statements_are_numbered_in_the_order_of_the_text() -> None:
    finding = refused(
        "DO $$ BEGIN PERFORM 1; IF true THEN CREATE TABLE u (id int); END IF; CREATE PUBLICATION p; END $$"
    )
    assert finding.statement is not None
    assert finding.statement.embedded == (2,)


def test_several_statements_that_one_execute_runs_are_numbered_below_it() -> None:
    finding = refused("DO $$ BEGIN EXECUTE 'CREATE PUBLICATION q; CREATE PUBLICATION p'; END $$")
    assert finding.statement is not None
    assert finding.statement.embedded == (0, 1)
    assert covered(finding.span) == "p"


def test_equal_statements_each_have_their_own_place() -> None:
    block = "DO $$ BEGIN\n ALTER PUBLICATION p DROP TABLE t;\n ALTER PUBLICATION p DROP TABLE t;\nEND $$"
    finding = refused(block)
    assert finding.span.start == len(TABLES) + block.rindex("t;")


def test_what_is_put_together_is_pointed_at_as_a_whole() -> None:
    finding = refused("DO $$ BEGIN EXECUTE format('ALTER PUBLICATION %I ADD TABLE t', 'p'); END $$")
    assert covered(finding.span) == "format('ALTER PUBLICATION %I ADD TABLE t', 'p')"


def test_what_a_function_does_is_said_at_its_call() -> None:
    made = "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN ALTER PUBLICATION p ADD TABLE t; END $$;\n"
    finding = refused(made + "SELECT f()")
    assert covered(finding.span) == "SELECT f()"
    assert finding.statement is not None
    assert (finding.statement.index, finding.statement.embedded) == (3, (0,))


def test_a_body_that_the_grammar_refuses_is_refused_whole() -> None:
    block = "DO $$ BEGIN\n  IF false THEN CREATE PUBLICATION IF NOT EXISTS q; END IF;\nEND $$"
    finding = refused(block)
    assert finding.rule == "PUB101"
    assert finding.statement is not None
    assert finding.statement.embedded == ()
    assert finding.server is not None
    assert finding.server.position == block.index("NOT") + 1
    assert covered(finding.span) == "NOT"


def test_a_refused_write_points_at_the_member_inside_the_block() -> None:
    block = "DO $$ BEGIN\n  ALTER PUBLICATION p SET TABLE t WHERE (a > 1);\nEND $$"
    findings = [finding for finding in lint(TABLES + block) if finding.phase == "write"]
    assert {covered(finding.span) for finding in findings} == {"a"}
    assert {finding.statement.embedded for finding in findings if finding.statement} == {(0,)}
