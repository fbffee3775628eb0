"""`pubcheck audit` before Spark starts: what a user is told. The job itself: tests/spark."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pubcheck.cli.audit_run import summarised
from pubcheck.cli.spark import reason
from pubcheck.spark.summary import Summary
from tests.cli.conftest import Call


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("none", "--output", "out"), "no input: there is no none"),
        ((".",), "Missing option '-o' / '--output'"),
        ((".", "--output", "out", "--run", "a/b"), "--run: 'a/b' is not a valid ID"),
        ((".", "--output", "out", "--max-file-size", "much"), "'much' is not a size; write bytes, or such as 512K"),
        ((".", "--output", "out", "--conf", "x"), "'x' must be KEY=VALUE"),
        ((".", "--output", "out", "--repo-column", "x"), "columns, presets and options apply to tables"),
        (
            ("t", "--input-format", "table", "--preset", "x", "--output", "out"),
            "there is no preset x; choose from the-stack, github",
        ),
        ((".", "--output", "out", "--run", "a" * 101), "is not a valid ID: use at most 100 letters"),
        ((".", "--output", __file__), f"{__file__} is a file, not a folder"),
        ((".", "--output", ""), "--output: missing folder"),
        ((".", "--output", "\udce9"), "--output: '\\udce9' is not valid UTF-8"),
        ((".", "--output", "out", "--report", "."), "Could not open file '.': it is a folder"),
        ((".", "--output", "out", "--postgres", "20"), "PostgreSQL 20 is not supported"),
        ((".", "--output", "out", "--unit-timeout", "0"), "Invalid value for '--unit-timeout'"),
        ((".", "--output", "out", "--report", "a.html", "--no-report"), "--report and --no-report cannot be combined"),
        (
            (".", "--output", "out", "--report", "none/a.html"),
            "Could not open file 'none/a.html': the folder does not exist",
        ),
    ],
)
def test_wrong_arguments_end_with_2_and_the_reason(pubcheck: Call, arguments: tuple[str, ...], reason: str) -> None:
    called = pubcheck("audit", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in " ".join(called.err.split())
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("name", ["files.parquet", "files.csv"])
def test_a_file_of_rows_is_not_taken_for_one_of_sql(pubcheck: Call, name: str) -> None:
    Path(name).write_text("repository,path,content\n")
    called = pubcheck("audit", name, "--output", "out")
    assert (called.status, called.out) == (2, "")
    assert f"{name} is not an SQL file: if its rows are files, add --input-format" in called.err


def test_without_pyspark_it_says_what_to_install(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    called = pubcheck("audit", ".", "--output", "out")
    assert (called.status, "pip install 'pubcheck[spark]'" in called.err) == (2, True)


def test_of_an_error_of_spark_the_line_that_says_something_is_told() -> None:
    python = (
        "An exception was thrown.\nTraceback (most recent call last):\n  File x\nOSError: disk full\n\n\tat org.x\n"
    )
    assert reason(python) == "OSError: disk full"
    assert reason("[PATH_NOT_FOUND] Path does not exist: x.\nJVM stacktrace:\n\tat org.x") == (
        "[PATH_NOT_FOUND] Path does not exist: x."
    )
    java = (
        "An error occurred while calling o1.x.\n: org.x.SparkException: [A] while reading\n\tat org.x\n"
        "Caused by: org.x.Y: [B] Malformed records\n\t... 2 more\nCaused by: org.x.Z: [C] Malformed record: 1,a\n"
    )
    assert reason(java) == "[C] Malformed record: 1,a"
    assert reason(java.partition("Caused by")[0]) == "[A] while reading"
    assert reason("") == "no reason given"


def test_the_summary_adds_up_and_names_the_rules() -> None:
    metrics = {
        "repositories": 2.0,
        "units": 1500.0,
        "units_linted": 1400.0,
        "units_carried": 7.0,
        "units_nothing_to_lint": 90.0,
        "units_quarantined": 10.0,
        "files": 3000.0,
        "files_linted": 2800.0,
        "files_nothing_to_lint": 180.0,
        "files_quarantined": 20.0,
        "statements": 12345.0,
        "errors": 2.0,
        "warnings": 0.0,
        "notes": 1.0,
        "seconds": 61.25,
    }
    summary = Summary(
        "r1", metrics, {"crashed": (10, 20)}, [("PUB301", "error", "certain", 2), ("PUB004", "note", "assumed", 1)]
    )
    assert "\n".join(summarised(summary, "out")) == (
        "1,500 units of 2 repositories, 3,000 files, 12,345 statements; 7 units carried over\n"
        "  linted               1,400 units      2,800 files\n"
        "  nothing to lint         90 units        180 files\n"
        "  quarantined             10 units         20 files\n"
        "    crashed               10 units         20 files\n"
        "2 errors, 0 warnings, 1 note\n"
        "  PUB301 error   certain          2  filter-column-outside-replica-identity\n"
        "  PUB004 note    assumed          1  statement-not-parsed\n"
        "The tables are out/*/run=r1, made in 61.2 seconds."
    )
