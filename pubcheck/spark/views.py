"""The findings of all runs in one folder: those of now, and when each was first and last reported.

Runs are joined by the fingerprint of a finding, by which `MERGE` can also keep a table of a lake up to date.
"""

from __future__ import annotations

import os
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from pubcheck.spark.schema import FINDINGS, ddl
from pubcheck.spark.store import Store

KEY = ("input", "repository", "fingerprint")
"""Identifies a finding over all runs."""


def runs(store: Store) -> DataFrame:
    """Return the runs that exist, with `latest`, whether it is the last one of its input."""
    order = Window.partitionBy("input").orderBy(F.desc("finished"), F.desc("run"))
    return store.runs().withColumn("latest", F.row_number().over(order) == 1)


def findings(store: Store) -> DataFrame:
    """Return the findings of all runs that exist, with the columns `run`, `input`, `finished` and `latest`."""
    return _findings(store, runs(store))


def current_findings(store: Store) -> DataFrame:
    """Return the findings of the last run of each input."""
    return _findings(store, runs(store).where("latest")).drop("latest")


def _findings(store: Store, chosen: DataFrame) -> DataFrame:
    of_run = chosen.select("run", "attempt", "input", "finished", "latest")
    rows = store.read_runs(FINDINGS, "findings", [(row["run"], row["attempt"]) for row in of_run.collect()])
    return rows.join(F.broadcast(of_run.drop("attempt")), "run")


def finding_history(store: Store) -> DataFrame:
    """Return a row for each finding that there ever was: its place and text when it was last reported, `first_run` and
    `last_run` with their times, how many `runs` reported it, and whether it is `open`."""
    last = F.struct("finished", "run", *(column.name for column in FINDINGS if column.name not in KEY))
    first = F.min(F.struct("finished", "run"))
    by_finding = findings(store).groupBy(*KEY)
    return by_finding.agg(
        first.alias("first"),
        F.max_by(last, F.struct("finished", "run")).alias("last"),
        F.count_distinct("run").alias("runs"),
        F.max("latest").alias("open"),
    ).select(
        *KEY,
        F.col("first.run").alias("first_run"),
        F.col("first.finished").alias("first_seen"),
        F.col("last.run").alias("last_run"),
        F.col("last.finished").alias("last_seen"),
        "runs",
        "open",
        *(F.col(f"last.{column.name}") for column in FINDINGS if column.name not in KEY),
    )


def create_views(spark: SparkSession, where: str) -> None:
    """Create the temporary views `pubcheck_runs`, `pubcheck_findings`, `pubcheck_current_findings` and
    `pubcheck_finding_history` of the tables in a folder."""
    store = Store(spark, where)
    views = {
        "runs": runs,
        "findings": findings,
        "current_findings": current_findings,
        "finding_history": finding_history,
    }
    for name, view in views.items():
        view(store).createOrReplaceTempView(f"pubcheck_{name}")


MERGED = ("first_run", "last_run", "gone_in")
"""Columns of a merged table besides those of `findings`: the run that reported a finding first, the one that did so
last, and the one that no longer did."""


def merge_into(store: Store, run: str, target: str) -> None:
    """Bring a table of the session's catalog, such as one of Delta Lake or Iceberg, up to date with a run. The table is
    made if there is none, and gets the columns that it lacks. Its catalog must support MERGE."""
    spark = store.spark
    try:
        existing = spark.table(target).columns
    except AnalysisException:
        _create(spark, target)
    else:
        for column in FINDINGS:
            if column.name not in existing:
                spark.sql(f"ALTER TABLE {target} ADD COLUMNS ({ddl((column,))})")
    row = store.runs().where(F.col("run") == run).select("input").collect()[0]
    rows = store.read(FINDINGS, "findings", run).dropDuplicates(["repository", "fingerprint"])
    rows.select(F.lit(row["input"]).alias("input"), "*").createOrReplaceTempView(_SOURCE)
    try:
        spark.sql(merge_statement(target), args={"run": run, "input": row["input"]})
    finally:
        spark.catalog.dropTempView(_SOURCE)


def _create(spark: SparkSession, target: str) -> None:
    """Create a table to merge into. What Spark's own catalog creates by default cannot be merged into, and Delta Lake
    and Iceberg in its place need to be named. Raises NoMerge."""
    columns = f"input STRING, {ddl(FINDINGS)}, {', '.join(f'{name} STRING' for name in MERGED)}"
    first = target.partition(".")[0].strip("`")
    catalogs = (spark.conf.get(f"spark.sql.catalog.{name}", "") for name in (first, spark.catalog.currentCatalog()))
    kind = next(filter(None, catalogs), "builtin")
    format = next((format for format in ("delta", "iceberg") if format in kind.lower()), None)
    if kind == "builtin" and "DATABRICKS_RUNTIME_VERSION" not in os.environ:
        raise NoMerge(f"{target} would be a table of Spark's own catalog, which does not support MERGE")
    spark.sql(f"CREATE TABLE {target} ({columns})" + (f" USING {format}" if format else ""))


class NoMerge(ValueError):
    """The catalog has no tables that can be merged into."""


_SOURCE = "pubcheck_merge_source"


def merge_statement(target: str) -> str:
    """Return the statement that merges a run into a table; `:run` is its ID and `:input` its input."""
    names = [f"`{column.name}`" for column in FINDINGS]
    same = " AND ".join(f"t.`{name}` = s.`{name}`" for name in KEY)
    updates = ", ".join(f"t.{name} = s.{name}" for name in names)
    return reduce(
        lambda text, line: f"{text}\n{line}",
        [
            f"MERGE INTO {target} AS t USING {_SOURCE} AS s ON {same}",
            f"WHEN MATCHED THEN UPDATE SET {updates}, t.last_run = :run, t.gone_in = NULL",
            f"WHEN NOT MATCHED THEN INSERT (input, {', '.join(names)}, {', '.join(MERGED)})",
            f"VALUES (s.input, {', '.join(f's.{name}' for name in names)}, :run, :run, NULL)",
            "WHEN NOT MATCHED BY SOURCE AND t.input = :input AND t.gone_in IS NULL THEN UPDATE SET t.gone_in = :run",
        ],
    )
