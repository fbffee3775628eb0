"""Where the files of an audit come from: folders whose paths the driver lists, or the rows of a table.

Once it has been looked at, either gives three frames. ``repositories`` has a row a repository, with a state by which
one that has not changed is known; ``units`` has the units of all of them or of those that changed, some of them linted
(``tables.EXAMINED``); ``linted`` has units chosen of the others, linted. ``count`` says, counted another way, how many
files there are.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Protocol

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.config import Config
from pubcheck.discovery.file_facts import CHANGELOG, LISTS
from pubcheck.discovery.file_types import ENDS, LANGUAGES, SUFFIXES, label_of
from pubcheck.discovery.prefilter import DONE, IDENTITY, NAMED, STATEMENT, UTF16_MARKS, WORD
from pubcheck.discovery.repositories import Repository, find_repositories, fixed_part
from pubcheck.spark import worker
from pubcheck.spark.costs import cost, part
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.schema import CONTENTS, EXAMINED, FACTS, FOUND, LINTED, LISTING, SCANNED, arrow, ddl, quoted
from pubcheck.spark.store import Store, as_meant
from pubcheck.spark.unit_discovery import BEGINNING
from pubcheck.spark.unit_row import GIVEN_TO_THE_LINTER

_CHUNK = 40_000
"""Files that the driver holds at a time."""
_SHOWN = 20
"""Columns that a message names."""
_SURVEYED = 5_000
"""Files that are looked through in one task: a second of work, of which Spark's own part is a twentieth."""


class Input(Protocol):
    """What an audit reads."""

    @property
    def name(self) -> str:
        """How it is called in the table `runs`."""

    @property
    def top(self) -> str:
        """What the labels of files begin with because of how the input is written: a copy of it has another one."""

    def look(self, spark: SparkSession, store: Store, run: str, settings: str, largest: int) -> str | None:
        """Finds the repositories; gives the state of all of them, of which ``settings`` are a part, None where that is
        not known. A file may have ``largest`` bytes. Raises EmptyInput, BadInput."""

    def repositories(self) -> DataFrame:
        """The repositories with their state and how many files they have."""

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        """The units of all repositories, or, where it is known how they stand to those of a run before, of those that
        changed. Where all are asked for, some may be linted already."""

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        """Units that were yet to be linted, as ``units`` gives those that were. They come with a ``salt``, which
        `repartition` takes to the partition, of so many, that each shall be in."""

    def count(self) -> int: ...

    def passed_over(self) -> int:
        """How many rows of the input are no files to read."""

    def forget(self, store: Store, run: str) -> None:
        """Takes back what was kept for the time of the run."""


class EmptyInput(ValueError):
    """There is no file to audit; the message says where was looked."""


class BadInput(ValueError):
    """The input is not what it was said to be; the message says which option to give."""


class Folders:
    """Repositories in folders, as ``find_repositories`` finds them. Their files are opened by the workers."""

    def __init__(self, where: str, config: Config = Config()) -> None:
        self.name = _plain(where)
        self.top = _top(where)
        self._where, self._config = where, config
        self._repositories = self._count = self._cost = 0
        self._written = False
        self._listing: Callable[[], DataFrame] | None = None

    def look(self, spark: SparkSession, store: Store, run: str, settings: str, largest: int) -> str | None:
        self._repositories = self._count = self._cost = 0
        self._written = False
        whole: hashlib._Hash | None = hashlib.sha256()
        chunk = _Chunk()
        listed = time.time_ns()
        for repository in find_repositories(self._where, self._config):
            if chunk.files >= _CHUNK:
                store.write(self._frame(spark, chunk), "listing", run, more=self._written)
                self._written, chunk = True, _Chunk()
            state, size = state_of(repository, listed, settings)
            if state is None:
                whole = None
            elif whole is not None:
                whole.update(f"{repository.name}\t{state}\n".encode())
            costs = cost(size, len(repository.files))
            chunk.add(repository, state, costs)
            self._repositories += 1
            self._count += len(repository.files)
            self._cost += costs
            listed = time.time_ns()
        if not self._count:
            raise EmptyInput(f"no input: no .sql file under {self.name}")
        if self._written:
            store.write(self._frame(spark, chunk), "listing", run, more=True)
            self._listing = lambda: store.read(LISTING, "listing", run)
        else:
            self._listing = lambda: self._frame(spark, chunk)
        return whole.hexdigest() if whole is not None else None

    @staticmethod
    def _frame(spark: SparkSession, chunk: _Chunk) -> DataFrame:
        return spark.createDataFrame(chunk.table(), ddl(LISTING))

    def repositories(self) -> DataFrame:
        return self._listed().drop("cost", "members")

    def _listed(self) -> DataFrame:
        assert self._listing is not None
        return self._listing()

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        listing = self._listed()
        if standing is None:
            parts = math.ceil(self._cost / part(self._cost))
        else:
            listing = listing.join(standing.of("changed"), "repository", "left_semi")
            parts = math.ceil(self._count * standing.changed / self._repositories / _SURVEYED)
        examine = partial(worker.examine, job=job, at_once=standing is None)
        return listing.repartition(parts).mapInArrow(examine, ddl(EXAMINED))

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        placed = units.repartition(parts, "salt").select(*(column.name for column in FOUND))
        return placed.mapInArrow(partial(worker.lint_units, job=job), ddl(EXAMINED))

    def count(self) -> int:
        return self._count

    def passed_over(self) -> int:
        return 0

    def forget(self, store: Store, run: str) -> None:
        if self._written:
            store.remove(LISTING, "listing", run)


def _plain(where: str) -> str:
    """A path without the separators at its end, which make no label another."""
    return where.rstrip("/" + os.sep) or where


def _top(where: str) -> str:
    """The folder of a folder, or of a pattern: what stands before the first wildcard."""
    label, fixed = label_of(where).rstrip("/"), fixed_part(where)
    if fixed is not None:
        top = "".join(f"{label_of(part)}/" for part in fixed)
    else:
        top = label + "/" if os.path.isdir(where) else label[: label.rfind("/") + 1]
    return top.removeprefix("./")  # as in the labels of files


class _Chunk:
    """Repositories, held as columns: a fraction of what they take as rows."""

    def __init__(self) -> None:
        self.files = 0
        self._columns: tuple[list[str], list[str | None], list[int], list[int]] = ([], [], [], [])
        self._members: tuple[list[str], list[bytes], list[str | None]] = ([], [], [])
        self._offsets = [0]

    def add(self, repository: Repository, state: str | None, cost: int) -> None:
        names, states, counts, costs = self._columns
        names.append(repository.name)
        states.append(state)
        counts.append(len(repository.files))
        costs.append(cost)
        labels, locations, problems = self._members
        for path, file in repository.files:
            labels.append(file.label)
            locations.append(os.fsencode(path))  # absolute: where a worker is, is not known
            problems.append(file.error)
        self.files += len(repository.files)
        self._offsets.append(self.files)

    def table(self) -> pa.Table:
        schema = arrow(LISTING)
        fields = schema.field("members").type.value_type
        members = [pa.array(values, field.type) for values, field in zip(self._members, fields, strict=True)]
        nested = pa.ListArray.from_arrays(
            pa.array(self._offsets, pa.int32()), pa.StructArray.from_arrays(members, fields=list(fields))
        )
        columns = [pa.array(values, field.type) for values, field in zip(self._columns, schema, strict=False)]
        return pa.Table.from_arrays([*columns, nested], schema=schema)


_TICK, _COARSE = 100_000_000, 2_100_000_000
"""Nanoseconds by which the times of files may lag behind the clock: where the file system counts parts of a second, and
where it counts seconds, or every other one."""


def state_of(repository: Repository, listed: int, settings: str) -> tuple[str | None, int]:
    """What the files of a repository have in common while nobody writes to them: names, sizes, times, inodes. None
    where a file was written to so shortly before ``listed``, in nanoseconds, that it could be once more without its
    times telling (git calls that racy). And how many bytes they have."""
    lines = [settings]
    size = 0
    racy = False
    for _, file in repository.files:
        try:
            status = os.stat(file.path)
        except (OSError, ValueError) as error:
            lines.append(f"{file.path}\t{file.error}\t{error}")
            continue
        size += status.st_size
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        racy = racy or newest > listed - (_TICK if newest % 1_000_000_000 else _COARSE)
        lines.append(
            f"{file.path}\t{file.error}\t{status.st_size}\t{status.st_mtime_ns}\t{status.st_ctime_ns}\t{status.st_ino}"
        )
    state = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    return None if racy else state, size


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
        self.name, self.top = name if format == "table" else _plain(name), ""
        self._from, self._format, self._columns, self._options = name, format, columns, dict(options or {})
        if format.lower() == "csv":
            said = {key.lower() for key in self._options}
            self._options |= {key: text for key, text in CSV.items() if key.lower() not in said}
        self._rows: DataFrame | None = None
        self._counts: tuple[int, int] | None = None
        self._paths: DataFrame | None = None
        self._described: DataFrame | None = None
        self._settings = ""

    def _read(self, spark: SparkSession) -> DataFrame:
        """The rows with a path that may be a file to read, or without a path. Raises BadInput."""
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
                raise BadInput(f"--format: Spark has no data source {self._format}") from None
            raise
        known = {field.name.lower(): field.dataType for field in table.schema}
        for what in ("repository", "path", "content"):
            name = getattr(self._columns, what)
            if name.lower() not in known:
                option = "repo" if what == "repository" else what
                there = f"it has {', '.join(columns[:_SHOWN])}" if columns else "it has none"
                raise BadInput(f"{self.name} has no column {name}, {there}: say --{option}-column or --preset")
        content = known[self._columns.content.lower()]
        if not isinstance(content, T.BinaryType | T.StringType):
            kind = content.simpleString()
            raise BadInput(f"{self.name}: column {self._columns.content} is {kind}, and contents are binary or string")
        return table

    def look(self, spark: SparkSession, store: Store, run: str, settings: str, largest: int) -> None:
        self._rows = self._read(spark)
        if not self.count():
            raise EmptyInput(f"no input: of {self.passed_over()} rows of {self.name} none is a file to read")
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
        each = F.concat_ws("\t", F.coalesce("path", F.lit("")), "digest", "fate")
        state = F.sha2(F.concat_ws("\n", F.lit(self._settings), F.array_sort(F.collect_list(each))), 256)
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
        found = facts.withColumnsRenamed({"fate": "met", "detail": "how"})
        scanned = described.join(found, key, "left").withColumns(
            {"fate": F.coalesce("met", "fate"), "detail": F.coalesce("how", "detail")}
        )
        rows = scanned.select(*(column.name for column in SCANNED)).repartition("repository")
        return rows.sortWithinPartitions("repository").mapInArrow(partial(worker.group, job=job), ddl(EXAMINED))

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        assert self._rows is not None
        given = F.col("member.fate").isNull() | F.col("member.fate").isin(*filter(None, GIVEN_TO_THE_LINTER))
        files = (
            units.select(
                "repository",
                "unit",
                "habit",
                "majors",
                "cost",
                "salt",
                F.posexplode("members").alias("ordinal", "member"),
            )
            .where(given)
            .select("repository", "unit", "habit", "majors", "cost", "salt", "ordinal", "member.*")
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
        known = units.select(*(column.name for column in FOUND)).withColumn("step", F.lit("linted"))
        return known.join(outcomes, ["repository", "unit"])

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
