"""The snippets, command lines and figures in `docs/` are right, and the workflows follow the schemas of their tools."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
import yaml

from pubcheck.cli.app import cli, run
from pubcheck.postgres.versions import MAJORS
from tests import verification
from tests.continuous_integration.test_ci_files import validate
from tests.differential.__main__ import KINDS
from tests.support.servers import PACKAGES

PROJECT = Path(__file__).parents[2]
CI_PAGE = (PROJECT / "docs" / "ci.md").read_text()


def snippet(heading: str) -> Any:
    """The first block of YAML below a heading of the page about CI."""
    match = re.search(rf"^## {heading}\n.*?^```yaml\n(.*?)^```", CI_PAGE, re.MULTILINE | re.DOTALL)
    assert match is not None
    return yaml.safe_load(match[1])


def test_the_snippet_for_github_follows_its_schema(tmp_path: Path) -> None:
    job = snippet("GitHub")
    file = tmp_path / "lint.yml"
    file.write_text(yaml.safe_dump({"on": "push", "jobs": {"lint": {"runs-on": "ubuntu-latest", **job}}}))
    validate("vendor.github-workflows", file)
    action = yaml.safe_load((PROJECT / "action.yml").read_text())
    used = next(step["with"] for step in job["steps"] if "pubcheck" in step["uses"])
    assert used.keys() <= action["inputs"].keys()


def test_the_snippet_for_gitlab_follows_its_schema(tmp_path: Path) -> None:
    pipeline = snippet("GitLab")
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(yaml.safe_dump(pipeline))
    validate("vendor.gitlab-ci", file, "--data-transform", "gitlab-ci")
    head, _ = yaml.safe_load_all((PROJECT / "ci" / "gitlab.yml").read_text().replace("$[[", "").replace("]]", ""))
    (include,) = pipeline["include"]
    assert (PROJECT / include["file"]).is_file()
    assert include["inputs"].keys() <= head["spec"]["inputs"].keys()


def test_the_snippet_for_pre_commit_names_a_hook() -> None:
    (repository,) = snippet("pre-commit")["repos"]
    hooks = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text())
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in hooks}


def command_lines() -> Iterator[tuple[str, str]]:
    """Every command line of pubcheck in the pages, with the name of its page."""
    for page in [PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")]:
        for block in re.findall(r"^```(?:sh|console)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if match := re.search(r"(?:^|[$|&] |bin/)pubcheck (.*)", line):
                    yield page.name, match[1].partition("  #")[0]


def test_command_lines_of_the_pages_name_commands_and_options_that_exist() -> None:
    lines = list(command_lines())
    assert len(lines) > 50
    problems = []
    for page, line in lines:
        words = shlex.split(line, comments=True)
        words = words[: next((place for place, word in enumerate(words) if word in "|;>&&"), None)]
        context = click.Context(cli, info_name="pubcheck")
        command = cli.get_command(context, words[0]) if words else None
        try:
            if command is None:
                raise click.UsageError("there is no such command")
            command.make_parser(click.Context(command, parent=context)).parse_args(words[1:])
        except click.UsageError as error:
            problems.append(f"{page}: {line}: {error.message}")
    assert problems == []


def test_the_figures_of_the_last_run_are_about_every_version() -> None:
    figures = msgspec.json.decode(verification.FILE.read_bytes(), type=verification.Figures)
    assert tuple(row.major for row in figures.recorded) == MAJORS
    asked = {str(major) for major in PACKAGES}
    assert set(figures.versions) == {str(row.major) for row in figures.streams} == asked
    assert {(row.kind, str(row.major)) for row in figures.random} == {(kind, name) for kind in KINDS for name in asked}


def test_the_quick_start_shows_what_its_commands_print(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (PROJECT / "docs" / "index.md").read_text()
    bad, good = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("schema.sql").write_text(bad)
    assert run(["lint", "--format", "concise", "schema.sql"]) == 1
    assert f"```console\n$ pubcheck lint --format concise schema.sql\n{capsys.readouterr().out}```\n" in text
    Path("schema.sql").write_text(good)
    assert run(["lint", "schema.sql"]) == 0
