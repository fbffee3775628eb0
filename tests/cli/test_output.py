"""`--format` and `--output`: several reports of one run, files that are whole or not there."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from pubcheck.cli.app import run
from pubcheck.report import FORMATS

REFUSED_LATER = (
    "CREATE TABLE orders (id int PRIMARY KEY, region text);\n"
    "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'EU');\n"
)


@pytest.fixture
def schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.sql").write_text(REFUSED_LATER)
    return "schema.sql"


def test_several_reports_of_one_run(schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = run(["lint", schema, "--format", "concise", "--output", "sarif:a.sarif", "--output", "json:a.json"])
    assert status == 1
    assert capsys.readouterr().out.startswith(
        "schema.sql:2:47: error[PUB301]: UPDATE of orders and DELETE from orders will fail"
    )
    assert len(json.loads(Path("a.sarif").read_text())["runs"][0]["results"]) == 2
    assert [finding["operation"] for finding in json.loads(Path("a.json").read_text())["diagnostics"]] == [
        "update",
        "delete",
    ]


@pytest.mark.parametrize(
    "command",
    [
        ("explain", "schema.sql"),
        ("files", "schema.sql"),
        ("scaffold", "--consumer", "zero", "schema.sql"),
        ("rule", "PUB301"),
        ("rules",),
        ("rules", "--format", "json"),
        ("consumers",),
        ("completion", "fish"),
        ("schema",),
    ],
    ids=" ".join,
)
def test_commands_write_to_a_file_what_they_print(
    command: tuple[str, ...], schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(list(command))
    printed = capsys.readouterr().out
    assert run([*command, "-o", "written.txt"]) == status
    assert (capsys.readouterr().out, Path("written.txt").read_text()) == ("", printed)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_says_the_rule_on_standard_output(
    name: str, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lint", schema, "--format", name]) == 1
    assert "PUB301" in capsys.readouterr().out


def test_text_in_a_file_has_excerpts_and_no_colour(schema: str) -> None:
    run(["lint", schema, "--format", "json", "--color", "always", "--output", "text:a.txt"])
    text = Path("a.txt").read_text()
    assert "2 | CREATE PUBLICATION eu" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("sarf:a", "there is no format 'sarf'; there are text, concise"),
        ("sarif", "missing file name, for example sarif:report.sarif"),
        ("sarif:", "missing file name"),
        ("sarif:missing/a.sarif", "there is no folder missing"),
        ("sarif:.", ". is a folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_done(
    option: str, message: str, schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lint", schema, "--output", option]) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_a_symbolic_link_stays_one_and_what_cannot_be_written_stops_no_other_report(
    schema: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there").mkdir()
    Path("report.json").symlink_to("there/report.json")
    Path("gone.xml").symlink_to("nowhere/report.xml")
    assert run(["lint", schema, "--output", "junit:gone.xml", "--output", "json:report.json"]) == 2
    assert capsys.readouterr().err == "pubcheck: --output: gone.xml: No such file or directory\n"
    assert Path("report.json").is_symlink()
    assert json.loads(Path("there/report.json").read_text())["files"] == 1
    assert os.listdir("there") == ["report.json"]


def test_a_report_keeps_the_mode_of_the_file_that_it_replaces(schema: str) -> None:
    Path("a.sarif").touch(mode=0o640)
    assert run(["lint", schema, "--output", "sarif:a.sarif"]) == 1
    assert stat.S_IMODE(os.stat("a.sarif").st_mode) == 0o640


def test_a_report_that_fails_leaves_what_stood_there(
    schema: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.sarif").write_text("before")

    def refuse(source: str, target: str) -> None:
        raise OSError(28, "No space left on device", target)

    monkeypatch.setattr(os, "replace", refuse)
    assert run(["lint", schema, "--output", "sarif:a.sarif"]) == 2
    assert "pubcheck: --output: a.sarif: No space left on device" in capsys.readouterr().err
    assert Path("a.sarif").read_text() == "before"
    assert sorted(os.listdir()) == ["a.sarif", "schema.sql"]
