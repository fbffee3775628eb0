"""The page of a run is small and quickly made for a corpus of any size."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.diagnostics import SEVERITIES
from pubcheck.report import audit_html
from pubcheck.rulebook import RULES
from pubcheck.spark.report_data import collect
from pubcheck.spark.schema import METRICS, RESULTS, RUNS, ddl
from pubcheck.spark.store import Store
from pubcheck.spark.summary import ENDS

pytestmark = pytest.mark.spark

UNITS, FINDINGS = 4_000, 20_000
LONGEST_PATH = 4096
"""Bytes of the longest path that Linux has."""


def rows(spark: SparkSession, into: str, number: int, /, **values: Column) -> DataFrame:
    """Return rows of a table; columns that are not given are null."""
    nulls = {column.name: F.lit(None) for column in RESULTS[into]}
    chosen = [
        (values.get(name, null)).cast(kind.dataType).alias(name)
        for (name, null), kind in zip(
            nulls.items(), spark.createDataFrame([], ddl(RESULTS[into])).schema.fields, strict=True
        )
    ]
    return spark.range(0, number, 1, 4).select(*chosen)


def of(values: list[str]) -> Column:
    """Return one of the values for each row."""
    return F.element_at(F.array(*map(F.lit, values)), (F.col("id") % len(values) + 1).cast("int"))


def write_run(store: Store, run: str, units: int, findings: int, finished: datetime) -> None:
    spark, started = store.spark, store.start(run)
    # Those that come first in every order have the longest texts.
    number = F.col("id") % (units // 2)
    long = F.when(number < 500, "&" * LONGEST_PATH).otherwise("")
    repository = F.concat(F.when(number < 500, "<first> ").otherwise("<other> "), number.cast("string"), long)
    unit = F.concat(repository, F.lit("/db"))
    tables = {
        "findings": rows(
            spark,
            "findings",
            findings,
            repository=repository,
            unit=unit,
            rule=of(list(RULES)),
            name=of([rule.name for rule in RULES.values()]),
            severity=of([SEVERITIES[number % len(SEVERITIES)] for number, _ in enumerate(RULES)]),
            certainty=of(["certain", "assumed", "certain", "certain", "certain"]),
            message=F.concat(F.lit("<message> "), long),
            path=F.concat(unit, F.lit("/a.sql")),
            line=F.col("id"),
            owners=F.array(F.concat(F.lit("@"), (F.col("id") % 1000).cast("string"), long)),
            fingerprint=F.concat(F.lit(run), F.col("id").cast("string")),
        ),
        "units": rows(
            spark,
            "units",
            units,
            repository=repository,
            unit=unit,
            status=F.lit("linted"),
            seconds=F.rand(1),
            errors=F.col("id") % 7,
            warnings=F.lit(1),
            notes=F.lit(1),
            statements=F.lit(1),
            bytes=F.lit(1),
            carried=F.lit(False),
        ),
        "publications": rows(
            spark,
            "publications",
            units,
            repository=repository,
            unit=unit,
            publication=long,
            names=F.lit("tables"),
            table=long,
            operation=of(["insert", "update", "delete", "truncate"]),
            verdict=F.lit("sent"),
            certainty=F.lit("certain"),
            filter=long,
        ),
        "quarantine": rows(
            spark,
            "quarantine",
            units,
            repository=repository,
            unit=unit,
            path=unit,
            detail=long,
            reason=of(["unreadable", "not-text", "too-large", "duplicate", "time-out", "memory", "crashed"]),
        ),
        "repositories": rows(spark, "repositories", units // 2, repository=repository, files=F.lit(1)),
    }
    for table, frame in tables.items():
        started.write(frame, table, run)
    counts = {f"{counted}_{end}": float(units) for counted in ("units", "files") for end in ENDS}
    totals = ("repositories", "units", "units_carried", "files", "statements", "bytes", *(f"{s}s" for s in SEVERITIES))
    counts |= dict.fromkeys(totals, float(units)) | {"seconds": 1e6}
    started.write_rows(METRICS, {"metric": list(counts), "value": list(counts.values())}, "metrics", run)
    row = {
        "run": run,
        "input": "x",
        "started": finished,
        "finished": finished,
        "ruleset": "1",
        "config": "{}",
        "pubcheck": "1",
        "spark": "4",
    }
    started.commit({column.name: row.get(column.name) for column in RUNS}, run)


def test_the_page_of_a_large_corpus_stays_under_two_megabytes(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(spark, str(tmp_path))
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for number in range(3):
        write_run(store, f"small{number}", 20, 100, now + timedelta(days=number))
    write_run(store, "large", UNITS, FINDINGS, now + timedelta(days=9))
    document = collect(store, "large")
    assert sum(rule.count for rule in document.rules) == FINDINGS
    assert sum(document.spread.values()) == UNITS // 2
    page = "".join(audit_html.render(document)).encode()
    assert len(page) < 2_000_000
