"""The findings of a run as files for other programs: CSV, Parquet, or a SARIF file for each repository."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, get_args
from urllib.parse import quote

import msgspec
import pyarrow as pa
from pyarrow.fs import FileType
from pyspark.sql import DataFrame, DataFrameWriter
from pyspark.sql import functions as F

from pubcheck.findings import Entry, Finding, Report
from pubcheck.report import sarif
from pubcheck.spark.paths import hadoop_path
from pubcheck.spark.schema import FINDINGS, REPOSITORIES
from pubcheck.spark.storage import Storage, storage_of
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
