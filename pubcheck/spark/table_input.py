"""The rows of a table as the input of an audit: repository, path and content of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.spark.inputs import BadInput
from pubcheck.spark.paths import exactly, literal, local_path, without_trailing_separators
from pubcheck.spark.rows_input import RowsInput
from pubcheck.spark.schema import quoted
from pubcheck.spark.sources import FILES, load

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
