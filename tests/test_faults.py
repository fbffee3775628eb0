"""Internal errors: a check that fails costs its own finding, and everything else is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pubcheck.checks.context import RuleContext, RuleFinding
from pubcheck.checks.write import filter_runtime_errors
from pubcheck.cli.app import run as command
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Result, Unit
from pubcheck.measure.plan import measurable
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.rulebook import INTERNAL_ERROR
from pubcheck.source import Source
from tests.support.checks import CHECKS

Where = tuple[str, str]


class Broken(Exception):
    """Raised by a check that was made to fail."""


def fail(*arguments: object, **named: object) -> Any:
    raise Broken("made to fail")


SHOP = (Path(__file__).parent.parent / "corpus" / "samples" / "shop.sql").read_text()
MORE = """
CREATE TABLE one (id int PRIMARY KEY, a text, b int);
CREATE TABLE two (id int PRIMARY KEY, a text, b int);
CREATE TABLE two (id int);
CREATE PUBLICATION first FOR TABLE one WHERE (a = 'x' AND b / (b - 1) > 2), two WHERE (b = 'q');
CREATE PUBLICATION first FOR TABLE one;
CREATE PUBLICATION second FOR TABLE one WHERE (a = 'x'), two (id, b) WHERE (random() > b);
CREATE PUBLICATION second FOR TABLE one WHERE (a = 'x'), two (id, a);
CREATE PUBLICATION third FOR TABLE missing, TABLES IN SCHEMA nowhere WITH (publish = 'update, delete');
ALTER PUBLICATION first ADD TABLE one;
UPDATE one SET b = 1;
ALTER TABLE two DROP COLUMN a;
DO $$ BEGIN EXECUTE 'ALTER PUBLICATION second ADD TABLE two'; END $$;
ALTER PUBLICATION second SET TABLE one WHERE (id > 5);
DROP TABLE two;
CREATE TABLE three (id int PRIMARY KEY, at timestamptz);
CREATE PUBLICATION the_publication_whose_name_is_longer_than_a_name_may_be_in_postgresql FOR TABLE three;
CREATE PUBLICATION fourth FOR TABLE three WHERE (at > '2020-01-01');
UPDATE three SET id = 1;
ALTER TABLE three REPLICA IDENTITY FULL;
ALTER PUBLICATION fourth ADD TABLE later;
CREATE TABLE later (id int PRIMARY KEY);
"""


def lint(*texts: str, rules: tuple[str, ...] = ("PUB",)) -> Result:
    sources = tuple(Source(f"{number}.sql", text) for number, text in enumerate(texts, 1))
    return Linter(Config(postgres=(18,), select=rules)).lint(Unit(sources))


def split(result: Result) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """Internal errors, and what else was found."""
    internal = [finding for finding in result.diagnostics if finding.rule == INTERNAL_ERROR]
    return internal, [finding for finding in result.diagnostics if finding.rule != INTERNAL_ERROR]


def places(findings: list[Diagnostic]) -> list[tuple[object, ...]]:
    """The rule and the statement of findings, with the server's answer."""
    return [
        (finding.rule, finding.span.source.label, finding.statement and finding.statement.index, finding.server)
        for finding in findings
    ]


def bare(findings: list[Diagnostic]) -> list[tuple[object, ...]]:
    """Findings without their help and fixes."""
    return [
        (*place, finding.span.start, finding.message, finding.certainty)
        for place, finding in zip(places(findings), findings, strict=True)
    ]


def whole(findings: list[Diagnostic]) -> list[tuple[object, ...]]:
    """Findings with all that people read."""
    return [
        (*place, finding.help, [fix.title for fix in finding.fixes], [span.start for span in finding.related])
        for place, finding in zip(bare(findings), findings, strict=True)
    ]


@pytest.fixture(scope="module")
def undisturbed() -> list[Diagnostic]:
    internal, findings = split(lint(SHOP, MORE))
    assert not internal
    assert len({finding.rule for finding in findings}) > 15
    return findings


@pytest.mark.parametrize("name", CHECKS)
def test_a_rule_of_the_final_state_costs_itself_alone(
    name: str, undisturbed: list[Diagnostic], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CHECKS, name, fail)
    internal, findings = split(lint(SHOP, MORE))
    assert [finding.message for finding in internal]
    assert "Broken: made to fail" in internal[0].message
    assert whole(findings) == whole([finding for finding in undisturbed if finding.rule != name])


@pytest.mark.parametrize("name", CHECKS)
def test_a_rule_that_fails_at_the_end_keeps_what_it_found(
    name: str, undisturbed: list[Diagnostic], monkeypatch: pytest.MonkeyPatch
) -> None:
    check, errors = CHECKS[name], (Broken("once"), MemoryError(), RecursionError("deep"))
    error = errors[len(name) % len(errors)]

    def failing(ground: RuleContext) -> Iterator[RuleFinding]:
        yield from check(ground)
        raise error

    monkeypatch.setitem(CHECKS, name, failing)
    internal, findings = split(lint(SHOP, MORE))
    assert len(internal) == 1
    assert whole(findings) == whole(undisturbed)


def test_a_rule_that_fails_at_one_filter_finds_what_it_finds_at_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    dangers, text = (
        filter_runtime_errors.dangers,
        "".join(
            f"CREATE TABLE t{number} (id int PRIMARY KEY, n bigint);\n"
            f"CREATE PUBLICATION p{number} FOR TABLE t{number} WHERE (10 / n > {number}) WITH (publish = 'insert');\n"
            for number in range(9)
        ),
    )

    def failing(cache: Any, expr: Any) -> Any:
        if any(arg.value in ("3", 3, "6", 6) for arg in expr.args):
            raise KeyError(26)
        return dangers(cache, expr)

    monkeypatch.setattr("pubcheck.checks.subscribe.filter_errors.dangers", failing)
    internal, findings = split(lint(text, rules=("PUB605",)))
    assert [(finding.statement and finding.statement.index) for finding in internal] == [7, 13]
    assert [finding.object for finding in findings] == [
        f"public.t{number}" for number in range(9) if number not in (3, 6)
    ]


AROUND_A_STATEMENT: list[tuple[str, str]] = [
    # What fails, and the only rules of which findings may then be missing or less certain ("": their help and fixes).
    ("pubcheck.engine.reporter.StatementReporter._statement_fixes", ""),
    ("pubcheck.engine.reporter.StatementReporter._filter_explanation", "words"),
    ("pubcheck.checks.messages.refusals.explain", "words"),
    ("pubcheck.engine.reporter.StatementReporter._report_unseen", "PUB106 PUB107 PUB112"),
    ("pubcheck.engine.reporter.StatementReporter._report_filter", "PUB214 PUB215"),
    ("pubcheck.engine.reporter.StatementReporter._created_later", "words"),
    ("pubcheck.checks.history.duplicates.earlier_definition", ""),
    ("pubcheck.engine.final_state.Outcome._remedies_of", ""),
    ("pubcheck.checks.remedies.write_remedies.Remedies.of", ""),
    ("pubcheck.checks.messages.writes.with_help", ""),
    ("pubcheck.engine.final_state.Outcome._fixes", ""),
    ("pubcheck.engine.final_state.Outcome._write", "PUB301 PUB302 PUB303 PUB304 PUB406"),
    ("pubcheck.checks.refused_dml.RefusedDmlCollector.check", "PUB138"),
    ("pubcheck.checks.refused_dml.RefusedDmlCollector.resolved_later", "PUB138"),
    ("pubcheck.checks.refused_dml.RefusedDmlCollector.still_refused", ""),
    ("pubcheck.engine.statement_runner.StatementRunner._long_names", "PUB104"),
]


@pytest.mark.parametrize(("place", "costs"), AROUND_A_STATEMENT, ids=lambda place: place)
def test_what_is_said_of_a_statement_costs_only_that(
    place: str, costs: str, undisturbed: list[Diagnostic], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, fail)
    internal, findings = split(lint(SHOP, MORE))
    assert internal
    if costs == "words":
        assert places(findings) == places(undisturbed)
    else:
        kept = [finding for finding in undisturbed if finding.rule not in costs.split()]
        assert bare([finding for finding in findings if finding.rule not in costs.split()]) == bare(kept)


def test_a_statement_whose_folding_fails_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(session: Any, name: str, node: Any) -> bool:
        perhaps_refused = apply_with_triggers(session, name, node)
        if name == "CreatePublicationStmt" and node["pubname"] == "p3":
            raise KeyError(26)
        return perhaps_refused

    monkeypatch.setattr("pubcheck.engine.replay.apply_with_triggers", failing)
    text = "CREATE TABLE t (id int PRIMARY KEY, a int);\n" + "".join(
        f"CREATE PUBLICATION p{number} FOR TABLE t WHERE (a > 0);\n" for number in range(6)
    )
    result = lint(text, rules=())
    internal, findings = split(result)
    assert [finding.statement and finding.statement.index for finding in internal] == [4]
    named = {name for finding in findings if finding.phase == "write" for name in finding.publications}
    assert named == {"p0", "p1", "p2", "p4", "p5"}
    (fault,) = {failure.text for failure in result.faults}
    assert fault == "KeyError: 26"


Pubcheck = Callable[..., Any]
CRASHING = "CREATE TABLE t (id int PRIMARY KEY, a int);\nCREATE PUBLICATION p FOR TABLE t WHERE (a / a = 1);\n"


@pytest.mark.parametrize("arguments", [(), ("--select", "PUB301"), ("--ignore", "PUB0"), ("--exit-zero",)])
def test_the_run_ends_with_2_and_the_finding_cannot_be_taken_away(
    arguments: tuple[str, ...], tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(CHECKS, "PUB603", fail)
    path = tmp_path / "shop.sql"
    path.write_text("-- pubcheck: ignore-file[PUB000]\n" + CRASHING)
    assert command(["lint", "--format", "json", *arguments, "--extend-select", "PUB603", str(path)]) == 2
    out, err = capsys.readouterr()
    rules = [finding["rule"] for finding in json.loads(out)["diagnostics"]]
    assert INTERNAL_ERROR in rules
    assert "PUB301" in rules
    assert "pubcheck: internal error in " in err
    assert "Broken: made to fail" in err


@pytest.mark.parametrize(
    "place",
    [
        "pubcheck.postgres.executor.example_rows.example_rows",
        "pubcheck.explain.filters_compared.Neighbours.widening",
        "pubcheck.explain.filters_compared.Neighbours.same",
        "pubcheck.explain.subscribers.Copies.of",
        "pubcheck.explain.subscribers.Subscriptions.of",
        "pubcheck.explain.build._Builder._table",
        "pubcheck.explain.build._Builder._answer",
        "pubcheck.engine.final_state.Outcome._silent_loss",
    ],
)
def test_explain_shows_the_rest(
    place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shop.sql"
    path.write_text(CRASHING + "CREATE PUBLICATION q FOR TABLE t WHERE (id > 1);\nCREATE PUBLICATION r FOR TABLE t;")
    together = ("--subscription", "p,q")
    command(["explain", "--format", "json", *together, str(path)])
    usual = json.loads(capsys.readouterr().out)["units"][0]
    monkeypatch.setattr(place, fail)
    assert command(["explain", "--format", "json", *together, str(path)]) == 2
    out, err = capsys.readouterr()
    unit = json.loads(out)["units"][0]
    assert err.startswith("pubcheck: internal error in ")
    assert INTERNAL_ERROR in [finding["rule"] for finding in unit["findings"]]
    if not place.endswith("_answer"):
        assert [publication["name"] for publication in unit["publications"]] == [
            publication["name"] for publication in usual["publications"]
        ]
    if not place.endswith("_table"):
        assert unit["tables"] == usual["tables"]


def test_what_can_be_measured_is_measured_of_the_other_publications(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CRASHING + "CREATE PUBLICATION q FOR TABLE t;\n"
    followed = Linter(Config(postgres=(18,))).follow(Unit((Source("1.sql", text),)))
    monkeypatch.setattr("pubcheck.measure.plan.spark_filter", fail)
    table = measurable(followed.replays[-1], followed.statements, "t")
    assert [(sending.publication, sending.reason) for sending in table.sendings] == [
        ("p", "pubcheck failed at it"),
        ("q", None),
    ]
    assert [fault.location for fault in followed.replays[-1].faults.faults] == ["1.sql:2"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("setup.py", "pubcheck.extract.embedded_sql.program"),
        ("setup.sh", "pubcheck.extract.shell.shell"),
        ("setup.yml", "pubcheck.extract.markup.yaml"),
        ("changelog.xml", "pubcheck.extract.markup.xml"),
    ],
)
def test_a_file_in_which_no_sql_can_be_looked_for_costs_itself_alone(
    name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop.sql").write_text("CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t;\n")
    (tmp_path / name).write_text("x = 'CREATE PUBLICATION p FOR ALL TABLES'\n")
    monkeypatch.setattr(place, fail)
    files = [str(tmp_path / name), str(tmp_path / "shop.sql")]
    assert command(["lint", "--format", "json", "--together", *files]) == 2
    out, err = capsys.readouterr()
    assert "pubcheck: internal error in " in err
    findings = json.loads(out)["diagnostics"]
    assert [Path(finding["path"]).name for finding in findings if finding["rule"] == INTERNAL_ERROR] == [name]
    assert [Path(finding["path"]).name for finding in findings if finding["rule"] == "PUB302"] == [
        "shop.sql",
        "shop.sql",
    ]
    assert command(["explain", *files]) == 2
    assert "pubcheck: internal error in " in capsys.readouterr().err
