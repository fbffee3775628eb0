"""Audits as a platform runs them: a table that grows, runs side by side, a quarantine that is tried again, and what is
made of the tables afterwards."""

from __future__ import annotations

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pubcheck.engine.linter import Linter
from pubcheck.spark.exports import (
    NoMerge,
    NotAnExport,
    create_views,
    current_findings,
    export,
    merge_into,
    merge_statement,
)
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.job import Options, audit, stream
from pubcheck.spark.report_data import survey
from pubcheck.spark.schema import SURVEY
from pubcheck.spark.sources import TableColumns, TableInput
from pubcheck.spark.summary import Summary
from tests.spark.audits import SMALL, Audits, exactly
from tests.spark.conftest import PROJECT, PUBLISHES, Plant, linted
from tests.spark.test_inputs import rows_of

pytestmark = pytest.mark.spark

FIRST: dict[str, str | bytes] = {
    "shop/db/1.sql": "CREATE TABLE t (id int PRIMARY KEY, r text);",
    "same/a.sql": PUBLISHES,
    "quiet/a.sql": "SELECT 1;",
}
SECOND: dict[str, str | bytes] = {
    "shop/db/2.sql": "CREATE PUBLICATION p FOR TABLE t WHERE (r = 'x');",
    "new/a.sql": "SELECT 2;",
}
THIRD: dict[str, str | bytes] = {"new/db/a.sql": PUBLISHES}


def test_a_stream_has_the_findings_of_a_batch_after_each_run(
    spark: SparkSession, audits: Audits, plant: Plant, tmp_path: Path
) -> None:
    where = str(tmp_path / "grows")

    def grow(files: dict[str, str | bytes]) -> None:
        plant(files)
        rows_of(spark, files).coalesce(1).write.mode("append").parquet(where)

    def follow(**options: Any) -> Summary | None:
        table = TableInput(where, "parquet", TableColumns("repository", "path", "content"))
        return stream(spark, table, audits.store, Linter(), Options(run="s"), **options)

    def now() -> list[dict[str, Any]]:
        rows = [row.asDict(recursive=True) for row in current_findings(audits.store).collect()]
        return [
            {name: value for name, value in row.items() if name not in ("run", "input", "finished")} for row in rows
        ]

    runs: Queue[Summary] = Queue()
    grow(FIRST)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(follow, interval="100 milliseconds", on_run=runs.put)
        for number, unchanged in enumerate((0, 2, 3)):
            if number:
                grow((SECOND, THIRD)[number - 1])
            summary = runs.get(timeout=300)
            assert (summary.run, summary.metrics["repositories_unchanged"]) == (f"s-{number:09}", unchanged)
            assert exactly(audits.as_lint_has_them(now())) == exactly(linted("corpus"))
        (query,) = spark.streams.active
        query.processAllAvailable()  # so that it knows that the last run was made
        query.stop()
        assert ended.result(timeout=60) is not None
    assert follow() is None

    create_views(spark, audits.store.where)
    history = spark.table("pubcheck_finding_history").orderBy("repository", "operation").collect()
    assert [(row["repository"], row["first_run"], row["runs"], row["open"]) for row in history] == [
        ("new", "s-000000002", 1, True),
        ("new", "s-000000002", 1, True),
        ("same", "s-000000000", 3, True),
        ("same", "s-000000000", 3, True),
        ("shop", "s-000000001", 2, True),
        ("shop", "s-000000001", 2, True),
    ]
    # No catalog of these tests has tables that can be merged into; the statement is one that Spark can read.
    parser = spark._jsparkSession.sessionState().sqlParser()
    assert "MergeIntoTable" in parser.parsePlan(merge_statement("lake.findings")).getClass().getName()

    notebook = json.loads((PROJECT / "docs" / "audit.ipynb").read_text())
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            # Java runs in another folder.
            exec("".join(cell["source"]).replace('"audit"', repr(audits.store.where)), names)
    assert names["findings_of"](names["files"]).count() == 2

    quiet = tmp_path / "sarif" / "quiet.sarif"
    quiet.parent.mkdir()
    quiet.write_text("of a run in which it had findings")
    export(audits.store, summary.run, "sarif", str(tmp_path / "sarif"))
    export(audits.store, summary.run, "csv", str(tmp_path / "csv"))
    exported = {path.name for path in quiet.parent.iterdir()}
    assert exported == {"new.sarif", "quiet.sarif", "same.sarif", "shop.sarif"}
    assert [run["results"] for run in json.loads(quiet.read_text())["runs"]] == [[]]
    (run,) = json.loads((tmp_path / "sarif" / "shop.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["PUB301", "PUB301"]
    export(audits.store, summary.run, "csv", str(tmp_path / "csv"))  # in the place of the first one
    with pytest.raises(NotAnExport, match="holds other files, such as "):
        export(audits.store, summary.run, "csv", audits.store.where)
    assert audits.store.runs().count() == 3
    with pytest.raises(NoMerge, match="lake_findings would be a table of Spark's own catalog"):
        merge_into(audits.store, summary.run, "lake_findings")
    assert not spark.catalog.tableExists("lake_findings")
    lines = [row for path in (tmp_path / "csv").glob("*.csv") for row in csv.DictReader(io.StringIO(path.read_text()))]
    shares = {(row.subject, row.item, row.kind): row for row in survey(audits.store, summary.run)}
    assert shares["features", "row filter", "repositories"].count == 3
    assert shares["rules", "PUB301 filter-column-outside-replica-identity", "linted units"].whole == 4
    assert audits.store.read(SURVEY, "survey", summary.run).count() == len(shares)
    assert sorted(row["path"] for row in lines) == sorted(row["path"] for row in now())
    assert {row["server_sqlstate"] for row in lines if row["rule"] == "PUB301"} == {"42P10"}


def test_runs_side_by_side_are_whole_and_a_quarantine_is_tried_again(
    spark: SparkSession, audits: Audits, plant: Plant
) -> None:
    plant({"a/.github/CODEOWNERS": "*.sql @github\n"})
    files = {"a/a.sql": PUBLISHES, "b/b.sql": PUBLISHES, "large/a.sql": PUBLISHES + "-" * SMALL}
    corpus = plant(files)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda run: audits.run(corpus, run), ("r1", "r2")))
    assert sorted(row["run"] for row in audits.store.runs().collect()) == ["r1", "r2"]
    assert audits.findings("r1") == audits.findings("r2")
    assert len(audits.findings("r1")) == 4
    assert {(row["repository"], *row["owners"]) for row in audits.rows("findings")} == {("a", "@github"), ("b",)}

    # With the same limits it ends as before, with larger ones it is linted; the rest is carried over both times.
    options = Options(run="r3", since="r2", retry=True, largest_file=SMALL, largest_unit=2 * SMALL)
    summary = audit(spark, FolderInput("corpus"), audits.store, Linter(), options)
    assert (summary.metrics["units_quarantined"], summary.metrics["units_carried"]) == (1, 2)
    summary = audit(spark, FolderInput("corpus"), audits.store, Linter(), Options(run="r4", since="r3"))
    assert (summary.metrics["units_quarantined"], summary.metrics["units_carried"]) == (0, 2)
    assert exactly(audits.findings("r4")) == exactly(linted("corpus"))
    summary = audits.run(corpus, "r5", since="r4")
    assert summary.notes == ("Nothing was carried over from run r4: it linted larger files or units.",)
    assert {f"seconds_step_{step}" for step in ("listing", "examining", "writing")} <= set(summary.metrics)
    size = FolderInput("corpus").size(spark, SMALL)
    assert (size.repositories, size.files, size.bytes) == (3, 3, sum(map(len, files.values())))
