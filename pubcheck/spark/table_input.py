"""The rows of a table as the input of an audit: repository, path and content of a file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.discovery.file_facts import CHANGELOG, LISTS
from pubcheck.discovery.file_types import ENDS, LANGUAGES, SUFFIXES
from pubcheck.discovery.prefilter import ACTIONS, IDENTITY, NAMED, STATEMENT, UTF16_MARKS, WORD
from pubcheck.spark import worker
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.inputs import BadInput, EmptyInput, without_trailing_separators
from pubcheck.spark.schema import CONTENTS, DISCOVERED, EXAMINED, FACTS, LINTED, SCANNED, ddl, quoted
from pubcheck.spark.store import Store, as_meant
from pubcheck.spark.unit_discovery import BEGINNING
from pubcheck.spark.unit_row import GIVEN_TO_THE_LINTER

_SHOWN = 20
"""Columns that a message names."""


class TableColumns(Struct, frozen=True):
    """The columns of a table of files: repository, path, and content (binary or string)."""

    repository: str
    path: str
    content: str


PRESETS: Mapping[str, TableColumns] = {
    "the-stack": TableColumns("max_stars_repo_name", "max_stars_repo_path", "content"),
    "github-code": TableColumns("repo_name", "path", "code"),
    "bigquery-github": TableColumns("sample_repo_name", "sample_path", "content"),
}
"""Columns of well-known corpora: The Stack and StarCoder data; CodeParrot's github-code; BigQuery's
github_repos.sample_contents."""


CSV: Mapping[str, str] = {"header": "true", "multiLine": "true", "quote": '"', "escape": '"'}
"""The defaults for reading CSV: with a header, and with multi-line contents in quotes that are doubled inside."""


class TableInput:
    """Files that are the rows of a table: ``format`` is one of Spark's data sources, or `table` for a catalog table.

    A row without a path is an unreadable file; a row whose path no walk of a folder would read is skipped.
    """

    def __init__(self, name: str, format: str, columns: TableColumns, options: Mapping[str, str] | None = None) -> None:
        self.name, self.top = name if format == "table" else without_trailing_separators(name), ""
        self._from, self._format, self._columns, self._options = name, format, columns, dict(options or {})
        if format.lower() == "csv":
            chosen = {key.lower() for key in self._options}
            self._options |= {key: text for key, text in CSV.items() if key.lower() not in chosen}
        self._rows: DataFrame | None = None
        self._counts: tuple[int, int] | None = None
        self._paths: DataFrame | None = None
        self._described: DataFrame | None = None
        self._settings = ""

    def _read(self, spark: SparkSession) -> DataFrame:
        """Return the rows with a path that may be a file to read, or without a path. Raises BadInput."""
        table = self._table(spark)
        path = F.col(quoted(self._columns.path)).cast("string")
        path = F.when(F.trim(path) != "", path)
        ends = [*SUFFIXES, *(f".{suffix}" for suffix in LANGUAGES)]
        lists = [F.lower(path).rlike(ENDS), F.lower(path).rlike(CHANGELOG), *map(path.endswith, LISTS)]
        read = reduce(Column.__or__, [*(F.lower(path).endswith(end) for end in ends), *lists])
        self._paths = table.select(F.coalesce(read, F.lit(True)).alias("read"))
        return table.select(
            F.coalesce(F.col(quoted(self._columns.repository)).cast("string"), F.lit("")).alias("repository"),
            path.alias("path"),
            F.col(quoted(self._columns.content)).cast("binary").alias("content"),
        ).where(read | path.isNull())

    def _table(self, spark: SparkSession) -> DataFrame:
        try:
            if self._format == "table":
                table = spark.read.table(self._from)
            else:
                table = spark.read.format(self._format).options(**self._options).load(as_meant(self._from))
            columns = table.columns
        except Exception as error:  # of Py4J, where PySpark does not know the one of Java
            if "DATA_SOURCE_NOT_FOUND" in str(error):
                raise BadInput(f"--input-format: Spark has no data source {self._format}") from None
            raise
        types = {field.name.lower(): field.dataType for field in table.schema}
        for role in ("repository", "path", "content"):
            name = getattr(self._columns, role)
            if name.lower() not in types:
                option = "repo" if role == "repository" else role
                existing = f"it has {', '.join(columns[:_SHOWN])}" if columns else "it has none"
                raise BadInput(f"{self.name} has no column {name}, {existing}: use --{option}-column or --preset")
        content = types[self._columns.content.lower()]
        if not isinstance(content, T.BinaryType | T.StringType):
            kind = content.simpleString()
            raise BadInput(f"{self.name}: column {self._columns.content} is {kind}, but must be binary or string")
        return table

    def look(self, spark: SparkSession, store: Store, run: str, settings: str, largest: int) -> None:
        self._rows = self._read(spark)
        if not self.count():
            raise EmptyInput(f"no input: none of the {self.passed_over()} rows of {self.name} is a file to read")
        content = F.col("content")
        size = F.coalesce(F.octet_length(content).cast("bigint"), F.lit(0).cast("bigint"))
        fate = F.when(F.col("path").isNull() | F.col("content").isNull(), "unreadable").when(
            size > largest, "too-large"
        )
        problem = F.when(F.col("path").isNull(), "it has no path").when(F.col("content").isNull(), "it has no content")
        self._described = self._rows.select(
            "repository",
            "path",
            _digest().alias("digest"),
            problem.alias("problem"),
            size.alias("size"),
            F.coalesce(may_matter(F.col("path"), F.col("content")), F.lit(True)).alias("may_publish"),
            fate.alias("fate"),
            F.coalesce(problem, F.when(size > largest, F.format_string("%d bytes", size))).alias("detail"),
        ).persist()
        self._settings = settings

    def repositories(self) -> DataFrame:
        assert self._described is not None
        row_state = F.concat_ws("\t", F.coalesce("path", F.lit("")), "digest", "fate")
        state = F.sha2(F.concat_ws("\n", F.lit(self._settings), F.array_sort(F.collect_list(row_state))), 256)
        return self._described.groupBy("repository").agg(state.alias("state"), F.count("*").alias("files"))

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        assert self._described is not None
        assert self._rows is not None
        described = self._described
        if standing is not None:
            described = described.join(standing.of("changed"), "repository", "left_semi")
        content, largest = F.col("content"), job.largest.file
        beginning = F.substring(content, 1, min(largest, BEGINNING))
        shown = F.when(F.octet_length("content") > largest, beginning).otherwise(content)
        # Only of repositories that publish does it matter which files belong together.
        publishing = described.where("may_publish").select("repository").distinct()
        facts = (
            self._rows.join(publishing, "repository", "left_semi")
            .where(F.col("content").isNotNull() & F.col("path").isNotNull())
            .select("repository", "path", _digest().alias("digest"), shown.alias("content"))
            .mapInArrow(partial(worker.describe, job=job), ddl(FACTS))
            .dropDuplicates(["repository", "path", "digest"])
        )
        key = ["repository", "path", "digest"]
        inspected = facts.withColumnsRenamed({"fate": "met", "detail": "how"})
        scanned = described.join(inspected, key, "left").withColumns(
            {"fate": F.coalesce("met", "fate"), "detail": F.coalesce("how", "detail")}
        )
        rows = scanned.select(*(column.name for column in SCANNED)).repartition("repository")
        return rows.sortWithinPartitions("repository").mapInArrow(partial(worker.group, job=job), ddl(EXAMINED))

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        assert self._rows is not None
        for_linter = F.col("member.fate").isNull() | F.col("member.fate").isin(*filter(None, GIVEN_TO_THE_LINTER))
        files = (
            units.select(
                "repository",
                "unit",
                "convention",
                "majors",
                "platform",
                "cost",
                "salt",
                F.posexplode("members").alias("ordinal", "member"),
            )
            .where(for_linter)
            .select("repository", "unit", "convention", "majors", "platform", "cost", "salt", "ordinal", "member.*")
        )
        content = (
            self._rows.join(units.select("repository").distinct(), "repository", "left_semi")
            .where(F.col("content").isNotNull())
            .withColumn("digest", _digest())
        )
        ready = (
            files.join(content, ["repository", "path", "digest"], "left")
            .repartition(parts, "salt")
            .sortWithinPartitions("cost", "repository", "unit", "ordinal")
            .select(*(column.name for column in CONTENTS))
        )
        outcomes = ready.mapInArrow(partial(worker.lint_contents, job=job), ddl(LINTED))
        known = units.select(*(column.name for column in DISCOVERED)).withColumn("step", F.lit("linted"))
        return known.join(outcomes, ["repository", "unit"])

    def _counted(self) -> tuple[int, int]:
        """Return the rows, and those of them that are files to read."""
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


def _digest() -> Column:
    return F.coalesce(F.sha2("content", 256), F.lit(""))


def may_matter(path: Column, content: Column) -> Column:
    """``selection.may_matter`` as an expression of Spark."""
    text = content.cast("string")
    mark, nul = F.substring(content, 1, 2), F.lit(b"\0")
    first_is_nul, second_is_nul = F.substring(content, 1, 1) == nul, F.substring(content, 2, 1) == nul
    utf16 = (
        (mark == F.lit(UTF16_MARKS[0]))
        | (mark == F.lit(UTF16_MARKS[1]))
        | ((F.length(mark) > 1) & (first_is_nul != second_is_nul))
    )
    in_sql = reduce(Column.__or__, [F.lower(path).endswith(end) for end in SUFFIXES])
    named, published = text.rlike(NAMED) & text.rlike(ACTIONS), text.rlike(WORD) & text.rlike(STATEMENT)
    return utf16 | text.rlike(IDENTITY) | F.when(in_sql, named).otherwise(published)
