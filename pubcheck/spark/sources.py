"""Tables and files of rows, as Spark reads them: as the input of an audit (repository, path and content of a file), and
as captured messages (the slot, the position, and the data of each)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from glob import escape, glob

from msgspec import Struct
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.spark.inputs import BadInput, RowsInput
from pubcheck.spark.paths import exactly, hadoop_path, literal, local_path, without_trailing_separators
from pubcheck.spark.schema import quoted

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


_SHOWN = 20
"""Columns that a message names."""


class TableColumns(Struct, frozen=True):
    """The columns of a table of files: repository, path, and content (binary or string); and, if there is one, the
    commit, or another version of a file or its repository that changes when the content does."""

    repository: str
    path: str
    content: str
    commit: str | None = None


PRESETS: Mapping[str, TableColumns] = {
    "the-stack": TableColumns("max_stars_repo_name", "max_stars_repo_path", "content"),
    "github-code": TableColumns("repo_name", "path", "code"),
    "bigquery-github": TableColumns("sample_repo_name", "sample_path", "content"),
}
"""Columns of well-known corpora: The Stack and StarCoder data; CodeParrot's github-code; BigQuery's
github_repos.sample_contents."""


CSV: Mapping[str, str] = {
    "header": "true",
    "multiLine": "true",
    "quote": '"',
    "escape": '"',
    "enforceSchema": "false",
}
"""The defaults for reading CSV: with multi-line contents in quotes that are doubled inside, and with a header in each
file, which must be that of the first one."""


class TableInput(RowsInput):
    """Files that are the rows of a table: ``format`` is one of Spark's data sources, or `table` for a catalog table."""

    def __init__(self, name: str, format: str, columns: TableColumns, options: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.name = name if format == "table" else without_trailing_separators(name)
        self.source, self.format, self.columns, self.options = name, format, columns, dict(options or {})
        self.has_commits = columns.commit is not None
        if format.lower() == "csv":
            chosen = {key.lower() for key in self.options}
            self.options |= {key: text for key, text in CSV.items() if key.lower() not in chosen}
        self._rows: DataFrame | None = None

    def list_rows(self, spark: SparkSession) -> DataFrame:
        self._rows = self.rows_of(self.read_table(spark))
        return self._rows.drop("content")

    def contents(self, only: DataFrame | None) -> DataFrame:
        assert self._rows is not None
        return self._rows if only is None else self._rows.join(only, only.columns, "left_semi")

    def rows_of(self, table: DataFrame) -> DataFrame:
        """Return the rows of a table with these columns: `repository`, `path`, `commit` and `content`. Raises
        BadInput."""
        columns = self._resolved(table)
        path = F.col(quoted(columns.path)).cast("string")
        commit = F.lit(None) if columns.commit is None else F.col(quoted(columns.commit))
        return table.select(
            F.coalesce(F.col(quoted(columns.repository)).cast("string"), F.lit("")).alias("repository"),
            F.when(F.trim(path) != "", path).alias("path"),
            commit.cast("string").alias("commit"),
            F.col(quoted(columns.content)).cast("binary").alias("content"),
        )

    def growing(self, spark: SparkSession) -> DataFrame:
        """Return the table as a stream of its rows."""
        if self.format == "table":
            return spark.readStream.table(self.source)
        reader = spark.readStream.format(self.format).options(**self.options)
        if self.format.lower() in FILES:
            # Files have no schema of their own to a stream; Delta Lake and Iceberg refuse another than theirs.
            reader = reader.schema(self.read_table(spark).schema)
        if not os.path.exists(local_path(self.source)):
            return reader.load(self.source)
        if exactly(self.source) and ":" in local_path(self.source):
            raise BadInput(f"{self.source}: Spark cannot stream from a path with a colon and one of []{{}}*?\\")
        return reader.load(literal(self.source))

    def read_table(self, spark: SparkSession) -> DataFrame:
        """Return the table as it is. Raises BadInput."""
        return load(spark, self.source, self.format, self.options)

    def _resolved(self, table: DataFrame) -> TableColumns:
        """Return the columns as the table spells them, by whose case Spark may distinguish them."""
        names: dict[str, str] = {}
        for role in ("repository", "path", "content", "commit"):
            name = getattr(self.columns, role)
            if name is not None:
                same = [column for column in table.columns if column.lower() == name.lower()]
                if not same:
                    option = "repo" if role == "repository" else role
                    existing = f"it has {', '.join(table.columns[:_SHOWN])}" if table.columns else "it has none"
                    raise BadInput(f"{self.name} has no column {name}, {existing}: use --{option}-column or --preset")
                names[role] = name if name in same else same[0]
        content = next(field.dataType for field in table.schema if field.name == names["content"])
        if not isinstance(content, T.BinaryType | T.StringType):
            kind = content.simpleString()
            raise BadInput(f"{self.name}: column {names['content']} is {kind}, but must be binary or string")
        return TableColumns(**names)


class FrameInput(TableInput):
    """Files that are the rows of a DataFrame."""

    def __init__(self, frame: DataFrame, columns: TableColumns, name: str = "the rows") -> None:
        super().__init__(name, "table", columns)
        self._frame = frame

    def read_table(self, spark: SparkSession) -> DataFrame:
        return self._frame


"""Columns that an error names."""
_FILE_BITS = 40
"""Bits of an ordinal that number the rows of a file; those above number the files."""
_XLOG_DATA = 25
"""Bytes of XLogData before the message."""


class MessageColumns(Struct, frozen=True):
    """The columns of a table of messages. ``order`` sorts the messages of a slot. Only ``data`` must be there; Parquet
    files without ``order`` are taken in the order of their names, and their rows as they come."""

    slot: str = "slot"
    order: str = "ordinal"
    lsn: str = "lsn"
    xid: str = "xid"
    data: str = "data"


def read_messages(
    spark: SparkSession, source: str, format: str, columns: MessageColumns, options: Mapping[str, str] | None = None
) -> DataFrame:
    """Return the messages of a catalog table (``format`` is `table`) or of one of Spark's data sources, with the
    columns of `CAPTURED`. Data are binary, or hex with or without `\\x`; XLogData is unwrapped. Raises BadInput."""
    table = load(spark, source, format, options, option="--from")
    types = {field.name.lower(): field.dataType for field in table.schema}
    existing = f"it has {', '.join(table.columns[:_SHOWN])}" if table.columns else "it has none"
    if columns.data.lower() not in types:
        raise BadInput(f"{source} has no column {columns.data}, {existing}: use --data-column")
    data = F.col(quoted(columns.data))
    if isinstance(types[columns.data.lower()], T.StringType):
        data = F.unhex(F.regexp_replace(F.trim(data), r"^\\+x", ""))
    elif not isinstance(types[columns.data.lower()], T.BinaryType):
        raise BadInput(f"{source}: column {columns.data} must be binary or string")

    def column(name: str) -> Column:
        return F.col(quoted(name)) if name.lower() in types else F.lit(None)

    if columns.order.lower() in types:
        ordinal = column(columns.order).cast("bigint")
    elif format.lower() == "parquet":
        table = _with_files(spark, table)
        ordinal = F.col("_file") * (1 << _FILE_BITS) + F.col("_metadata.row_index")
    else:
        raise BadInput(f"{source} has no column {columns.order} to order messages by, {existing}: use --order-column")
    letter = F.substring(data, 1, 1)
    return table.select(
        F.coalesce(column(columns.slot).cast("string"), F.lit("")).alias("slot"),
        ordinal.alias("ordinal"),
        column(columns.lsn).cast("string").alias("lsn"),
        column(columns.xid).cast("bigint").alias("xid"),
        F.when(letter == F.lit(b"w"), F.substr(data, F.lit(_XLOG_DATA + 1))).otherwise(data).alias("data"),
    ).where(F.col("data").isNull() | (F.substring("data", 1, 1) != F.lit(b"k")))


def _with_files(spark: SparkSession, table: DataFrame) -> DataFrame:
    """Add the number of each row's file, in the order of their names."""
    path = F.col("_metadata.file_path")
    paths = sorted(row[0] for row in table.select(path).distinct().collect())
    numbers = spark.createDataFrame(list(zip(paths, range(len(paths)), strict=True)), "_path STRING, _file BIGINT")
    return table.join(F.broadcast(numbers), path == F.col("_path"))
