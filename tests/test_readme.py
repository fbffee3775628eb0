"""The README and docs/ show what pubcheck does, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pubcheck.cli.app import run
from pubcheck.explain import render_text
from tests.explain.documents import document, explain
from tests.explain.test_manual import TABLES, script

PROJECT = Path(__file__).parent.parent


def test_ci_runs_the_command_that_the_readme_gives() -> None:
    *_, command = (PROJECT / ".ci" / "run").read_text().splitlines()
    assert command.endswith("-m pytest -n auto --dist loadfile")
    assert f"```sh\n{command}\n```" in (PROJECT / "README.md").read_text()


def test_the_readme_shows_what_its_first_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(PROJECT)
    assert run(["lint", "corpus/samples/orders.sql"]) == 1
    assert f"```text\n{capsys.readouterr().out}```\n" in (PROJECT / "README.md").read_text()


def test_the_page_about_explain_shows_what_explain_gives() -> None:
    sql = script(TABLES[0], "CREATE PUBLICATION p1 FOR TABLE t1 WHERE (a > 5 AND c = 'NSW')")
    shown, _, _ = "".join(render_text.render(document(explain(sql)))).partition("    note")
    assert f"```text\n{shown}```\n" in (PROJECT / "docs" / "explain.md").read_text()


def test_the_readme_is_short() -> None:
    assert len((PROJECT / "README.md").read_text().split()) <= 800


@pytest.mark.parametrize("page", [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")], ids=lambda page: page.name)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        aim = page.parent / path if path else page
        assert aim.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.*)", aim.read_text(), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in headings}, target
