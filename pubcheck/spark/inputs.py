"""Where the files of an audit come from: folders whose paths the driver lists, or the rows of a table.

Either gives two frames. ``files`` has a row a file, with what can be said of it without linting (``tables.FILES``);
``contents`` has, for files chosen of those, what the linter is given. ``count`` says, counted another way, how many
rows ``files`` must have.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from functools import partial, reduce
from typing import Any, Protocol

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.config import Config
from pubcheck.sources.files import LANGUAGES, SUFFIXES
from pubcheck.sources.plans import find_repositories
from pubcheck.sources.selection import DONE, IDENTITY, NAMED, STATEMENT, UTF16_MARKS, WORD
from pubcheck.sources.traits import CHANGELOG, LISTS
from pubcheck.spark import worker
from pubcheck.spark.runs import Store
from pubcheck.spark.tables import FACTS, FILES, LISTING, SCANNED, arrow, ddl

_CHUNK = 20_000
"""Files that the driver holds at a time."""
_SHOWN = 20
"""Columns that a message names."""
_GROUPED = 4_000
"""Files that are grouped in one task: half a second of work."""


class Input(Protocol):
    """What an audit reads."""

    @property
    def name(self) -> str:
        """How it is called in the table `runs`."""

    def files(self, spark: SparkSession, store: Store, run: str, largest: int) -> DataFrame: ...

    def contents(self, spark: SparkSession, chosen: DataFrame) -> DataFrame: ...

    def count(self) -> int: ...

    def passed_over(self) -> int:
        """How many rows of the input are no files to read."""

    def forget(self, store: Store, run: str) -> None:
        """Takes back what was written for the time of the run."""


class EmptyInput(ValueError):
    """There is no file to audit; the message says where was looked."""


class BadInput(ValueError):
    """The input is not what it was said to be; the message says which option to give."""


class Folders:
    """Repositories in folders, as ``find_repositories`` finds them. Their files are opened by the workers."""

    def __init__(self, where: str, config: Config = Config()) -> None:
        self.name, self._config = where, config
        self._count = 0
        self._written = False

    def files(self, spark: SparkSession, store: Store, run: str, largest: int) -> DataFrame:
        listing = None
        chunks = self._chunks()
        for number, chunk in enumerate(chunks):
            if not chunk.num_rows:
                break
            listing = spark.createDataFrame(chunk, ddl(LISTING))
            if number or chunk.num_rows >= _CHUNK:
                store.write(listing, "listing", run, more=self._written)
                self._written = True
        if listing is None:
            raise EmptyInput(f"no input: no .sql file under {self.name}")
        if self._written:
            listing = store.read(LISTING, "listing", run)
        scanned = listing.mapInArrow(partial(worker.scan, largest=largest), ddl(SCANNED))
        return _grouped(scanned.repartition(math.ceil(self._count / _GROUPED), "repository"))

    def _chunks(self) -> Iterator[pa.Table]:
        """The listing, in pieces of at least ``_CHUNK`` files but for the last one, which may be empty."""
        rows: list[dict[str, Any]] = []
        for repository in find_repositories(self.name, self._config):
            rows += [
                {
                    "repository": repository.name,
                    "path": file.label,
                    "location": os.fsencode(path),  # absolute: where a worker is, is not known
                    "problem": file.error,
                }
                for path, file in repository.files
            ]
            if len(rows) >= _CHUNK:
                yield self._chunk(rows)
                rows = []
        yield self._chunk(rows)

    def _chunk(self, rows: list[dict[str, Any]]) -> pa.Table:
        self._count += len(rows)
        return pa.Table.from_pylist(rows, schema=arrow(LISTING))

    def contents(self, spark: SparkSession, chosen: DataFrame) -> DataFrame:
        return chosen.withColumn("content", F.lit(None).cast("binary"))

    def count(self) -> int:
        return self._count

    def passed_over(self) -> int:
        return 0

    def forget(self, store: Store, run: str) -> None:
        if self._written:
            store.remove(LISTING, "listing", run)


class Columns(Struct, frozen=True):
    """The columns of a table of files: repository, path, and content (binary or string)."""

    repository: str
    path: str
    content: str


PRESETS: Mapping[str, Columns] = {
    "the-stack": Columns("max_stars_repo_name", "max_stars_repo_path", "content"),
    "github-code": Columns("repo_name", "path", "code"),
    "bigquery-github": Columns("sample_repo_name", "sample_path", "content"),
}
"""Columns of well-known corpora: The Stack and StarCoder data; CodeParrot's github-code; BigQuery's
github_repos.sample_contents."""


CSV: Mapping[str, str] = {"header": "true", "multiLine": "true", "quote": '"', "escape": '"'}
"""How CSV is read unless told: with a header, and contents of several lines in quotes, which are doubled inside."""


class Rows:
    """Files that are the rows of a table: ``format`` is one of Spark's data sources, or `table` for a catalog table.

    A row without a path is a file that cannot be read; one whose path no walk of a folder would read is passed over.
    """

    def __init__(self, name: str, format: str, columns: Columns, options: Mapping[str, str] | None = None) -> None:
        self.name, self._format, self._columns, self._options = name, format, columns, dict(options or {})
        if format.lower() == "csv":
            said = {key.lower() for key in self._options}
            self._options |= {key: text for key, text in CSV.items() if key.lower() not in said}
        self._rows: DataFrame | None = None
        self._counts: tuple[int, int] | None = None
        self._paths: DataFrame | None = None
        self._described: DataFrame | None = None

    def _read(self, spark: SparkSession) -> DataFrame:
        """The rows with a path that may be a file to read, or without a path. Raises BadInput."""
        table = self._table(spark)
        path = F.col(f"`{self._columns.path}`").cast("string")
        path = F.when(F.trim(path) != "", path)
        ends = [*SUFFIXES, *(f".{suffix}" for suffix in LANGUAGES)]
        lists = [F.lower(path).rlike(CHANGELOG), *map(path.endswith, LISTS)]
        read = reduce(Column.__or__, [*(F.lower(path).endswith(end) for end in ends), *lists])
        self._paths = table.select(F.coalesce(read, F.lit(True)).alias("read"))
        return table.select(
            F.coalesce(F.col(f"`{self._columns.repository}`").cast("string"), F.lit("")).alias("repository"),
            path.alias("path"),
            F.col(f"`{self._columns.content}`").cast("binary").alias("content"),
        ).where(read | path.isNull())

    def _table(self, spark: SparkSession) -> DataFrame:
        try:
            if self._format == "table":
                table = spark.read.table(self.name)
            else:
                table = spark.read.format(self._format).options(**self._options).load(self.name)
            columns = table.columns
        except Exception as error:  # of Py4J, where PySpark does not know the one of Java
            if "DATA_SOURCE_NOT_FOUND" in str(error):
                raise BadInput(f"--format: Spark has no data source {self._format}") from None
            raise
        known = {column.lower() for column in columns}
        for what in ("repository", "path", "content"):
            name = getattr(self._columns, what)
            if name.lower() not in known:
                option = "repo" if what == "repository" else what
                there = f"it has {', '.join(columns[:_SHOWN])}" if columns else "it has none"
                raise BadInput(f"{self.name} has no column {name}, {there}: say --{option}-column or --preset")
        return table

    def files(self, spark: SparkSession, store: Store, run: str, largest: int) -> DataFrame:
        self._rows = self._read(spark)
        content = F.col("content")
        size = F.coalesce(F.octet_length(content).cast("bigint"), F.lit(0).cast("bigint"))
        fate = F.when(F.col("path").isNull() | F.col("content").isNull(), "unreadable").when(
            size > largest, "too-large"
        )
        problem = F.when(F.col("path").isNull(), "it has no path").when(F.col("content").isNull(), "it has no content")
        described = self._rows.select(
            "repository",
            "path",
            F.lit(None).cast("binary").alias("location"),
            problem.alias("problem"),
            size.alias("size"),
            _digest().alias("digest"),
            F.coalesce(may_matter(F.col("path"), F.col("content")), F.lit(True)).alias("may_publish"),
            fate.alias("fate"),
        ).persist()
        self._described = described
        shown = F.when(size > largest, F.substring("content", 1, min(largest, worker.BEGINNING))).otherwise(content)
        # Only of repositories that publish does it matter which files belong together.
        publishing = described.where("may_publish").select("repository").distinct()
        facts = (
            self._rows.join(publishing, "repository", "left_semi")
            .where(F.col("content").isNotNull() & F.col("path").isNotNull())
            .select("repository", "path", _digest().alias("digest"), shown.alias("content"))
            .mapInArrow(worker.describe, ddl(FACTS))
            .dropDuplicates(["repository", "path", "digest"])
        )
        scanned = described.join(facts, ["repository", "path", "digest"], "left")
        columns = [column.name for column in SCANNED]
        return _grouped(scanned.select(*columns).repartition("repository"))

    def contents(self, spark: SparkSession, chosen: DataFrame) -> DataFrame:
        assert self._rows is not None
        content = self._rows.where(F.col("content").isNotNull()).withColumn("digest", _digest())
        return chosen.join(content, ["repository", "path", "digest"], "left")

    def _counted(self) -> tuple[int, int]:
        """The rows, and those of them that are files to read."""
        assert self._paths is not None
        if self._counts is None:
            row = self._paths.agg(F.count("*"), F.count_if("read")).collect()[0]
            self._counts = (row[0], row[1])
        return self._counts

    def count(self) -> int:
        return self._counted()[1]

    def passed_over(self) -> int:
        every, files = self._counted()
        return every - files

    def forget(self, store: Store, run: str) -> None:
        if self._described is not None:
            self._described.unpersist()


def _grouped(scanned: DataFrame) -> DataFrame:
    """Files with their units, given with those of a repository in one partition. (`applyInArrow` makes a table of each
    repository, which costs more than to group it.)"""
    return scanned.sortWithinPartitions("repository").mapInArrow(worker.group, ddl(FILES))


def _digest() -> Column:
    return F.coalesce(F.sha2("content", 256), F.lit(""))


def may_matter(path: Column, content: Column) -> Column:
    """``selection.may_matter`` as an expression of Spark."""
    text = content.cast("string")
    mark, nul = F.substring(content, 1, 2), F.lit(b"\0")
    one, other = F.substring(content, 1, 1) == nul, F.substring(content, 2, 1) == nul
    utf16 = (mark == F.lit(UTF16_MARKS[0])) | (mark == F.lit(UTF16_MARKS[1])) | ((F.length(mark) > 1) & (one != other))
    in_sql = reduce(Column.__or__, [F.lower(path).endswith(end) for end in SUFFIXES])
    named, published = text.rlike(NAMED) & text.rlike(DONE), text.rlike(WORD) & text.rlike(STATEMENT)
    return utf16 | text.rlike(IDENTITY) | F.when(in_sql, named).otherwise(published)
