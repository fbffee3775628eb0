"""Audits of files that are the rows of a table."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pubcheck.spark.inputs import BadInput, EmptyInput
from pubcheck.spark.sources import TableColumns, TableInput
from tests.spark.audits import SMALL, Audits, exactly
from tests.spark.conftest import PUBLISHES, Plant, linted

pytestmark = pytest.mark.spark


def test_a_format_that_spark_does_not_know_is_said(audits: Audits) -> None:
    with pytest.raises(BadInput, match="--input-format: Spark has no data source nosuch"):
        audits.run(TableInput("x", "nosuch", TableColumns("repository", "path", "content")))


@pytest.mark.parametrize("format_", ["parquet", "json", "csv", "table"])
def test_a_table_of_files_gives_what_its_files_give(
    spark: SparkSession, audits: Audits, plant: Plant, tmp_path: Path, format_: str
) -> None:
    files: dict[str, str | bytes] = {
        "shop/schema/1.sql": "CREATE TABLE t (id int PRIMARY KEY, r text);",
        "shop/schema/2.sql": "CREATE PUBLICATION p FOR TABLE t WHERE (r = 'é');",
        "shop/other/x.sql": "CREATE PUBLICATION q FOR TABLE missing WHERE (random() > 0.5);",
        "quiet/a.sql": "CREATE TABLE t (id int);",
    }
    files = {name: f'{text!s}\n-- of "several" lines' for name, text in files.items()}
    plant(files)
    rows = [(name.partition("/")[0], f"corpus/{name}", text) for name, text in files.items()]
    rows += [
        ("shop", "corpus/shop/README.md", "CREATE PUBLICATION"),
        ("shop", "corpus/.git/h.sql", "CREATE PUBLICATION"),
    ]
    table = spark.createDataFrame(rows, "repo_name STRING, file STRING, code STRING")
    where = str(tmp_path / "files")
    if format_ == "table":
        where = f"files_{os.getpid()}"
        table.createOrReplaceTempView(where)
    elif format_ == "csv":
        table.write.options(header=True, escape='"').csv(where)
    else:
        table = table.withColumn("code", F.encode("code", "utf-8")) if format_ == "parquet" else table
        table.write.format(format_).save(where)
    summary = audits.run(TableInput(where, format_, TableColumns("repo_name", "file", "code")))
    assert exactly(audits.findings()) == exactly(linted("corpus"))
    assert audits.ends() == {
        "corpus/shop/schema": ("linted", None),
        "corpus/shop/other": ("linted", None),
        "corpus/quiet": ("nothing-to-lint", None),
    }
    assert (summary.metrics["files"], summary.metrics["files_nothing_to_lint"]) == (5, 2)
    assert summary.metrics["rows_passed_over"] == 1
    with pytest.raises(BadInput, match=r"has no column path, it has .*: use --path-column"):
        audits.run(TableInput(where, format_, TableColumns("repo_name", "path", "code")))


def test_rows_that_are_no_file_are_quarantined(spark: SparkSession, audits: Audits) -> None:
    rows: list[tuple[str | None, str | None, str | None]] = [
        ("a", "1.sql", PUBLISHES),
        ("a", "1.sql", PUBLISHES),
        ("a", "1.sql", PUBLISHES + "-- another version"),
        ("a", "2.sql", None),
        ("a", None, PUBLISHES),
        ("a", "", PUBLISHES),
        ("a", "README.md", PUBLISHES),
        (None, "3.sql", PUBLISHES),
        ("large", "4.sql", PUBLISHES + "-" * SMALL),
        ("quiet", "5.sql", "-" * 2 * SMALL),
        ("quiet", "6.sql", "SELECT 1;"),
    ]
    spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("odd")
    summary = audits.run(TableInput("odd", "table", TableColumns("repository", "path", "content")))
    assert Counter(
        (row["repository"], row["unit"], row["path"], row["reason"]) for row in audits.rows("quarantine")
    ) == {
        ("a", ".", "1.sql", "duplicate"): 2,
        ("a", ".", "2.sql", "unreadable"): 1,
        ("a", None, None, "unreadable"): 2,
        ("large", ".", None, "too-large"): 1,
        ("large", ".", "4.sql", "too-large"): 1,
        ("quiet", ".", None, "too-large"): 1,
        ("quiet", ".", "5.sql", "too-large"): 1,
        ("quiet", ".", "6.sql", "too-large"): 1,
    }
    assert (summary.metrics["files"], summary.metrics["files_linted"]) == (10, 2)
    assert summary.metrics["files_quarantined"] == sum(files for _, files in summary.quarantine.values()) == 8
    assert summary.metrics["rows_passed_over"] == 1
    assert sum(1 for row in audits.rows("findings") if row["rule"] == "PUB301") == 4
    assert {row["repository"] for row in audits.rows("units")} == {"a", "", "large", "quiet"}


@pytest.mark.parametrize("rows", [[], [("a", "README.md", PUBLISHES)]], ids=["none", "none-to-read"])
def test_a_table_without_a_file_is_no_run(
    spark: SparkSession, audits: Audits, rows: list[tuple[str, str, str]]
) -> None:
    spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("empty")
    with pytest.raises(EmptyInput, match=f"no input: none of the {len(rows)} rows of empty is a file to read"):
        audits.run(TableInput("empty", "table", TableColumns("repository", "path", "content")))


def test_contents_that_are_no_text_are_said_by_their_type(spark: SparkSession, audits: Audits) -> None:
    spark.createDataFrame([("a", "a.sql", 5)], "repository STRING, path STRING, `a``b` INT").createOrReplaceTempView(
        "n"
    )
    with pytest.raises(BadInput, match="n: column a`b is int, but must be binary or string"):
        audits.run(TableInput("n", "table", TableColumns("repository", "path", "a`b")))


def test_paths_are_what_they_are_whatever_slashes_they_begin_with(spark: SparkSession, audits: Audits) -> None:
    paths = ["/a.sql", "//b.sql", "///c.sql", "//d//e.sql", "f//g.sql", "/h/i.sql"]
    rows = [("r", path, PUBLISHES) for path in paths]
    spark.createDataFrame(rows, "repository STRING, path STRING, content STRING").createOrReplaceTempView("slashes")
    audits.run(TableInput("slashes", "table", TableColumns("repository", "path", "content")))
    assert sorted({row["path"] for row in audits.findings()}) == sorted(paths)
    assert not audits.quarantined()
