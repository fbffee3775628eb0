"""The README's commands are those that CI runs."""

from __future__ import annotations

from pathlib import Path

from pubcheck import Config, Linter, Source, Unit
from pubcheck.explain import render_text
from pubcheck.findings import Resolver, report
from pubcheck.report.text import render
from tests.explain.documents import document, explain
from tests.explain.test_manual import TABLES, script

PROJECT = Path(__file__).parent.parent


def test_ci_runs_the_command_that_the_readme_gives() -> None:
    *_, command = (PROJECT / ".ci" / "run").read_text().splitlines()
    assert command.endswith("-m pytest")
    assert f"```sh\n{command}\n```" in (PROJECT / "README.md").read_text()


def test_the_readme_shows_what_the_sample_gives() -> None:
    text = (PROJECT / "corpus" / "samples" / "orders.sql").read_text()
    result = Linter(Config()).lint(Unit((Source("corpus/samples/orders.sql", text),)))
    findings = Resolver().findings(result.diagnostics)
    shown = "".join(render(report(findings, result.postgres, 1, result.statements)))
    assert f"```text\n{shown}```\n" in (PROJECT / "README.md").read_text()


def test_the_readme_shows_what_explain_gives() -> None:
    given = script(TABLES[0], "CREATE PUBLICATION p1 FOR TABLE t1 WHERE (a > 5 AND c = 'NSW')")
    shown, _, _ = "".join(render_text.render(document(explain(given)))).partition("    note")
    assert f"```text\n{shown}```\n" in (PROJECT / "README.md").read_text()
