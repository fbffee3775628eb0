"""The findings of a run as files for other programs: CSV, Parquet, or a SARIF file for each repository.

The findings of all runs, those of now and when each was first and last reported, are views: runs are joined by the
fingerprint of a finding, by which `MERGE` can also keep a table of a lake up to date.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import Any, get_args
from urllib.parse import quote

import msgspec
import pyarrow as pa
from pyarrow.fs import FileType
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession, Window
from pyspark.sql import functions as F

from pubcheck.findings import Entry, Finding, Report
from pubcheck.report import sarif
from pubcheck.spark.object_input import Storage, storage_of
from pubcheck.spark.paths import hadoop_path
from pubcheck.spark.schema import FINDINGS, REPOSITORIES, ddl
from pubcheck.spark.store import Folders, Store

FORMATS = ("csv", "parquet", "sarif")
_WRITTEN = pa.schema([("repository", pa.string()), ("findings", pa.int64())])


def export(store: Store, run: str, format: str, where: str) -> None:
    """Write the findings of a run to a folder, which Spark's tasks must see: as CSV or Parquet files, or as a SARIF
    file for each repository that has findings, with the name of the repository. An earlier file of a repository that
    has none any more is written without results. Raises NotAnExport."""
    findings = store.read(FINDINGS, "findings", run)
    if format == "parquet":
        _replaced(store, findings, where).parquet(hadoop_path(where))
    elif format == "csv":
        _replaced(store, flat(findings), where).option("header", "true").option("escape", '"').csv(hadoop_path(where))
    else:
        storage = storage_of(store.spark, where)
        system, path = storage.of(where)
        system.create_dir(path)
        repositories = store.read(REPOSITORIES, "repositories", run).select("repository")
        rows = repositories.join(findings, "repository", "left").repartition("repository")
        files = rows.sortWithinPartitions("repository", "path", "line", "column")
        target = where if "://" in where else path
        files.mapInArrow(
            partial(_write_sarif, storage=storage, where=target), "repository STRING, findings BIGINT"
        ).count()


class NotAnExport(ValueError):
    """A folder that would be replaced by an export holds other files."""


_SPARKS = re.compile(r"\.?(part-|_)")
"""The names of files that Spark writes."""


def _replaced(store: Store, rows: DataFrame, where: str) -> DataFrameWriter:
    """Return what writes rows to a folder in the place of an earlier export. Raises NotAnExport."""
    others = sorted(name for name in Folders(store.spark).files(hadoop_path(where)) if not _SPARKS.match(name))
    if others:
        raise NotAnExport(f"{where} holds other files, such as {others[0]}, and an export replaces the folder")
    return rows.write.mode("overwrite")


def flat(findings: DataFrame) -> DataFrame:
    """Return findings with columns that CSV can hold: lists of texts and numbers are joined by spaces; the server's
    SQLSTATE and message have columns of their own."""
    columns = []
    for column in FINDINGS:
        kind = column.type
        if column.name == "server":
            columns += [F.col(f"server.{name}").alias(f"server_{name}") for name in ("sqlstate", "message")]
        elif pa.types.is_list(kind) and not pa.types.is_struct(kind.value_type):
            columns.append(F.array_join(F.col(column.name).cast("array<string>"), " ").alias(column.name))
        elif not pa.types.is_nested(kind):
            columns.append(F.col(column.name))
    return findings.select(*columns)


def _write_sarif(batches: Iterable[pa.RecordBatch], *, storage: Storage, where: str) -> Iterator[pa.RecordBatch]:
    system, folder = storage.of(where)
    rows = (row for batch in batches for row in batch.to_pylist())
    for repository, of_repository in groupby(rows, itemgetter("repository")):
        entries = [entry_of(row) for row in of_repository if row["rule"] is not None]
        file_name = f"{folder}/{quote(repository, safe='')}.sarif"
        if not entries and system.get_file_info(file_name).type is FileType.NotFound:
            continue
        majors = sorted({major for entry in entries for major in entry.postgres})
        report = Report(tuple(map(Finding, entries)), tuple(majors), len({entry.path for entry in entries}), 0)
        # A task that is repeated writes the same file again.
        with system.open_output_stream(file_name) as file:
            for piece in sarif.render(report):
                file.write(piece.encode())
        yield pa.RecordBatch.from_pylist([{"repository": repository, "findings": len(entries)}], schema=_WRITTEN)


def entry_of(row: Mapping[str, Any]) -> Entry:
    """Return the finding that a row of the table `findings` holds."""
    return msgspec.convert(_without_unset(row, Entry), Entry)


def _without_unset(value: Any, kind: Any) -> Any:
    """Return a value without the fields that a record leaves out where a table has null."""
    structs = [kind, *get_args(kind)]
    record = next(
        (struct for struct in structs if isinstance(struct, type) and issubclass(struct, msgspec.Struct)), None
    )
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_without_unset(item, get_args(kind)[0]) for item in value]
    if not isinstance(value, Mapping) or record is None:
        return value
    fields = {field.name: field for field in msgspec.structs.fields(record)}
    return {
        name: _without_unset(item, fields[name].type)
        for name, item in value.items()
        if name in fields and not (item is None and fields[name].default is msgspec.UNSET)
    }


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
