"""Tables and files of rows, as Spark reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from glob import escape, glob

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pubcheck.spark.inputs import BadInput
from pubcheck.spark.paths import exactly, hadoop_path, local_path

_OF_LAKES = ("parquet", "orc", "avro")
"""The formats in which lake tables keep their rows."""
FILES = (*_OF_LAKES, "json", "csv", "text", "xml")
"""The formats of files that Spark itself reads."""
_MARKERS: Mapping[str, tuple[str, str]] = {
    "delta": ("Delta Lake", "_delta_log"),
    "iceberg": ("Iceberg", "metadata/*.metadata.json"),
    "hudi": ("Hudi", ".hoodie"),
}
"""What is in the folder of a lake table and in no other, by the name of Spark's data source."""


def load(
    spark: SparkSession,
    source: str,
    format: str,
    options: Mapping[str, str] | None = None,
    *,
    option: str = "--input-format",
) -> DataFrame:
    """Return a table of the session's catalog (``format`` is `table`) or the rows of one of Spark's data sources.
    Raises BadInput, which names the ``option`` that gives the format."""
    try:
        if format == "table":
            table = spark.read.table(source)
        else:
            if format.lower() in _OF_LAKES:
                _refuse_lake_table(spark, source, option)
            table = open_path(spark, source, format, options)
        table.columns  # noqa: B018 -- which Spark Connect asks for only now
    except Exception as error:  # of Py4J, where PySpark does not know the one of Java
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            raise BadInput(f"{option}: Spark has no data source {format}") from None
        raise
    return table


def open_path(spark: SparkSession, path: str, format: str, options: Mapping[str, str] | None = None) -> DataFrame:
    """Return the rows of a path or a pattern: what exists by that name is not a pattern."""
    reader = spark.read.format(format).options(**options or {})
    if not os.path.exists(local_path(path)):
        return reader.load(path)
    return reader.options(**exactly(path)).load(hadoop_path(path))


def _refuse_lake_table(spark: SparkSession, source: str, option: str) -> None:
    lake = lake_table(spark, source)
    if lake is not None:
        name = lake_name(lake)
        raise BadInput(
            f"{source} is a table of {name}, whose files also hold deleted rows: use {option} table and its name in the"
            f" catalog, or {option} {lake} in a session that has {name}"
        )


def lake_name(format: str) -> str:
    return _MARKERS[format][0]


def lake_table(spark: SparkSession, path: str) -> str | None:
    """Return the format of the lake table that a path or a pattern is, or is in; None if there is none."""
    if os.path.exists(local_path(path)):
        return local_lake_table(path)
    for format, marker in _places(path):
        try:
            # Spark knows patterns, and has the credentials.
            spark.read.format("binaryFile").load(marker).schema  # noqa: B018 -- fails where there is no such path
        except AnalysisException:
            continue
        return format
    return None


def local_lake_table(path: str) -> str | None:
    """Return the same for a path of this machine, without a session."""
    places = _places(escape(os.path.abspath(local_path(path))))
    return next((format for format, marker in places if glob(marker)), None)


def _places(path: str) -> Iterator[tuple[str, str]]:
    """Return the formats of lake tables that a path may be one of, or a folder in one, each with the path that exists
    if it is."""
    root = re.match(r"([^/]*:/+[^/]*)?/*", path)
    assert root is not None
    folder = path.rstrip("/")
    while len(folder) > root.end() or folder == path.rstrip("/"):
        for format, (_, marker) in _MARKERS.items():
            # `metadata` is a common name: it is Iceberg's above the folder `data`.
            if format != "iceberg" or folder == path.rstrip("/") or path[len(folder) :].startswith("/data"):
                yield format, f"{folder}/{marker}"
        parent = folder.rpartition("/")[0]
        if not parent or parent == folder:
            return
        folder = parent
