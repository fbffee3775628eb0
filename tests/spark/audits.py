"""Audits in a folder of their own, and their tables read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from pyspark.sql import SparkSession

from pubcheck.engine.linter import Linter
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.inputs import Input
from pubcheck.spark.job import Options, audit
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.schema import FINDINGS, METRICS, PUBLICATIONS, QUARANTINE, REPOSITORIES, RUNS, UNITS
from pubcheck.spark.store import Store
from pubcheck.spark.summary import Summary

TABLES = {
    "findings": FINDINGS,
    "publications": PUBLICATIONS,
    "units": UNITS,
    "quarantine": QUARANTINE,
    "repositories": REPOSITORIES,
    "metrics": METRICS,
    "runs": RUNS,
}
PATIENT, QUICK = Limits(120.0, 256 << 20), Limits(5.0, 256 << 20)
SMALL = 1 << 16


class Audits:
    """Runs audits into a folder of their own and reads their tables."""

    def __init__(self, spark: SparkSession, where: Path) -> None:
        self.spark, self.store = spark, Store(spark, str(where))

    def run(
        self,
        scanned: Input | Path,
        run: str = "r1",
        *,
        since: str | None = None,
        linter: Linter = Linter(),
        small: bool = True,
        limits: Limits = PATIENT,
    ) -> Summary:
        """``small``: whether no large files are allowed."""
        source = FolderInput(str(scanned)) if isinstance(scanned, Path) else scanned
        options = Options(run=run, since=since, limits=limits)
        if small:
            options = replace(options, largest_file=SMALL, largest_unit=2 * SMALL)
        return audit(self.spark, source, self.store, linter, options)

    def rows(self, table: str, run: str = "r1") -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in self.store.read(TABLES[table], table, run).collect()]

    def findings(self, run: str = "r1") -> list[dict[str, Any]]:
        """The findings as `pubcheck lint --format json` has them, in the order of ``linted``."""
        return self.as_lint_has_them(self.rows("findings", run))

    @staticmethod
    def as_lint_has_them(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in rows:
            for name in ("repository", "unit", "fingerprint", "owners"):
                del row[name]
            if row["statement"] and row["statement"]["embedded"] is None:
                del row["statement"]["embedded"]
            # JSON leaves these out where a finding is about no consumer and no object of a database.
            if row["consumer"] is None:
                del row["consumer"]
            for place in row["related"]:
                for name in ("database_object", "live"):
                    if place[name] is None:
                        del place[name]
        return sorted(rows, key=msgspec.json.encode)

    def ends(self, run: str = "r1") -> dict[str, tuple[str, str | None]]:
        """What became of each unit."""
        return {row["unit"]: (row["status"], row["reason"]) for row in self.rows("units", run)}

    def quarantined(self, run: str = "r1") -> set[tuple[str | None, str | None, str]]:
        return {(row["unit"], row["path"], row["reason"]) for row in self.rows("quarantine", run)}


def exactly(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings with the order of an object's keys made one."""
    return sorted((msgspec.json.decode(msgspec.json.encode(finding, order="sorted")) for finding in findings), key=str)
