"""What assumed findings rest on is said: which object, which statement."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.findings import Resolver
from pubcheck.source import Source

TABLE = "CREATE TABLE t (id int PRIMARY KEY, a int, b text);\n"
FILTER = "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\n"
NOWHERE = "whether something outside these files creates it"
TOGETHER = "whether one subscription takes these publications together"


def lint(*sources: Source, complete: bool = False) -> tuple[Diagnostic, ...]:
    return Linter(Config(complete=complete, extend_select=("PUB5",))).lint(Unit(sources)).diagnostics


def rests_on(text: str, rule: str, *, language: str = "sql", complete: bool = False) -> list[str]:
    """What the first finding of a rule rests on, as reports say it."""
    findings = [
        finding for finding in lint(extract.source("a.sql", text, language), complete=complete) if finding.rule == rule
    ]
    assert findings, "the rule found nothing"
    assert findings[0].certainty == "assumed"
    return list(Resolver(excerpts=False).findings(findings[:1])[0].entry.assumptions)


@pytest.mark.parametrize(
    ("text", "rule", "expected"),
    [
        (FILTER, "PUB107", [NOWHERE]),
        ("ALTER PUBLICATION p ADD TABLE t;", "PUB106", [NOWHERE]),
        (
            "ALTER PUBLICATION p SET TABLE t WHERE (a > 1);\n" + TABLE.replace(" t ", " u "),
            "PUB709",
            ['publication "p", which these files do not create'],
        ),
        (
            TABLE + "ALTER PUBLICATION p ADD TABLE t WHERE (a > 1);",
            "PUB301",
            ['publication "p", which these files do not create'],
        ),
        (
            TABLE + "\\if :x\n" + FILTER + "\\endif\n",
            "PUB301",
            ["whether this statement takes effect (a.sql:3)"],
        ),
        (
            TABLE + "ALTER TABLE :name ADD COLUMN x int;\n" + FILTER.replace("a > 1", "x > 1"),
            "PUB201",
            ["the value of a psql variable in this statement (a.sql:2)"],
        ),
        (
            TABLE + FILTER + "DO $$ BEGIN EXECUTE current_setting('x') || ' REPLICA IDENTITY FULL'; END $$;",
            "PUB301",
            ["the effect of this statement, which is unknown (a.sql:3)"],
        ),
        (
            TABLE + "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1);\nCREATE PUBLICATION q FOR TABLE t;\n",
            "PUB508",
            [TOGETHER],
        ),
        (
            TABLE + "CREATE PUBLICATION p FOR TABLE t (id, a);\nCREATE PUBLICATION q FOR TABLE t (id, b);\n",
            "PUB509",
            [TOGETHER],
        ),
        (
            TABLE + FILTER + "\\i other.sql\n",
            "PUB301",
            ["the statements that this runs, which are not in these files (a.sql:3)"],
        ),
        ("nonsense here;\n" + TABLE + FILTER, "PUB004", []),
    ],
)
def test_a_finding_says_what_it_rests_on(text: str, rule: str, expected: list[str]) -> None:
    assert rests_on(text, rule) == expected


def test_a_certain_finding_rests_on_nothing() -> None:
    assert [finding.assumptions for finding in lint(Source("a.sql", TABLE + FILTER))] == [(), ()]


def test_a_placeholder_is_pointed_at() -> None:
    text = TABLE + "ALTER TABLE {{ name }} ADD COLUMN x int;\n" + FILTER.replace("a > 1", "x > 1")
    assert rests_on(text, "PUB201") == ["the part of this statement that is known only at run time (a.sql:2)"]


def test_the_first_few_are_named() -> None:
    names = ", ".join(f"t{number}" for number in range(9))
    text = TABLE + f"ALTER PUBLICATION p ADD TABLE t (id, id), {names};"
    assert len(rests_on(text, "PUB403")) <= 3


def test_doubts_that_are_taken_back_are_not_named() -> None:
    text = TABLE + "BEGIN;\nALTER TABLE elsewhere ADD COLUMN x int;\nROLLBACK;\n" + FILTER
    assert [(finding.rule, finding.assumptions) for finding in lint(Source("a.sql", text))] == [("PUB301", ())] * 2


@pytest.mark.parametrize(("between", "rules"), [("", []), ("CREATE TABLE u ();\n", [("PUB130", "assumed")])])
def test_what_a_rollback_of_an_earlier_prepared_transaction_undoes_is_assumed(
    between: str, rules: list[tuple[str, str]]
) -> None:
    add = "ALTER PUBLICATION q ADD TABLE t;\n"
    text = f"CREATE PUBLICATION q;\nBEGIN;\n{add}PREPARE TRANSACTION 'x';\n{between}ROLLBACK PREPARED 'x';\n{add}"
    findings = lint(Source("a.sql", TABLE + text), complete=True)  # every server accepts the last statement
    assert [(finding.rule, finding.certainty) for finding in findings] == rules
