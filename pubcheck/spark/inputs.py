"""The input of an audit: repositories in folders (``folder_input``), the rows of a table (``sources``), or the files of
an object store or of archives (``object_input``).

Contents of files that come as rows are read twice, and never on the driver: each file is described where it is read,
and only the descriptions are shuffled, by repository, to find the units; then the contents of the units to lint go to
the task that lints them. A repository's share of the files therefore does not decide how its units are spread.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import partial, reduce
from typing import Protocol

from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.discovery.file_facts import CHANGELOG, LISTS
from pubcheck.discovery.file_types import ENDS, LANGUAGES, SUFFIXES
from pubcheck.spark import worker
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.schema import CONTENTS, EXAMINED, FILES, ddl
from pubcheck.spark.store import Store
from pubcheck.spark.unit_discovery import BEGINNING
from pubcheck.spark.unit_row import GIVEN_TO_THE_LINTER


class InputSize(Struct, frozen=True):
    """The repositories of an input, the files to read and their bytes, and the rows that are not files to read."""

    repositories: int
    files: int
    bytes: int
    passed_over: int = 0


class Input(Protocol):
    """The repositories that an audit reads. ``look`` is called first."""

    @property
    def name(self) -> str:
        """The input in the table `runs`."""

    @property
    def top(self) -> str:
        """The beginning of the labels of files that depends on how the input is written: a copy has another one."""

    def size(self, spark: SparkSession, largest: int) -> InputSize:
        """Return how much there is to read, without reading it. Raises BadInput."""

    def look(
        self, spark: SparkSession, store: Store, run: str, settings: str, largest: int, *, comparing: bool = False
    ) -> str | None:
        """Find the repositories and return the state of all of them, including ``settings``; None if the state is
        unknown. A file may have ``largest`` bytes. ``comparing``: they are compared with those of an earlier run, so
        that only some may be read. Raises EmptyInput, BadInput."""

    def repositories(self, job: worker.Job) -> DataFrame:
        """Return one row per repository with its number of files and its state, which changes when the repository
        does."""

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        """Return the units (``schema.EXAMINED``) of all repositories, some of them linted already. With ``standing``,
        which compares them with an earlier run, only those of changed repositories, none of them linted."""

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        """Return the units, linted. Each comes with a ``salt``, by which `repartition` puts it into its partition, one
        of ``parts``."""

    def count(self) -> int:
        """Return the number of files, counted independently of ``units``."""

    def passed_over(self) -> int:
        """Return the number of rows of the input that are not files to read."""

    def forget(self, store: Store, run: str) -> None:
        """Delete the data that was kept for the run."""


class EmptyInput(ValueError):
    """The input has no file to audit; the message names the place."""


class BadInput(ValueError):
    """The input does not have the given format; the message says which option to give."""


_GROUPED, _MOST_PARTS = 5_000, 20_000
"""Files that are grouped by repository in one task, and the most tasks that do it."""


def is_readable() -> Column:
    """Return whether the name of a file is one that a walk of a folder would read; null without a name."""
    path = F.col("path")
    ends = [*SUFFIXES, *(f".{suffix}" for suffix in LANGUAGES)]
    lists = [F.lower(path).rlike(ENDS), F.lower(path).rlike(CHANGELOG), *map(path.endswith, LISTS)]
    return reduce(Column.__or__, [*(F.lower(path).endswith(end) for end in ends), *lists])


class RowsInput(ABC):
    """Files that are rows. A row without a path is an unreadable file; a row whose path no walk of a folder would read
    is skipped."""

    name: str
    top = ""

    def __init__(self) -> None:
        self._listed: DataFrame | None = None
        self._counts: tuple[int, int] | None = None
        self._described: DataFrame | None = None
        self._settings, self._largest = "", 0

    @abstractmethod
    def list_rows(self, spark: SparkSession) -> DataFrame:
        """Return all rows without their contents: `repository`, `path`, and `commit`, the version of the file or of
        its repository, null if it is not known. Raises BadInput."""

    @abstractmethod
    def contents(self, only: DataFrame | None) -> DataFrame:
        """Return all rows with their `content` (binary), or those whose columns match a row of ``only``."""

    has_commits = False
    """Whether `commit` tells whether a file has changed, so that its content need not be read for that."""
    filter_early = False
    """Whether contents that are not needed are better left out before they are read than after."""

    def measured(self) -> DataFrame:
        """Return the rows with the `size` of each, null if it is not known."""
        return self.contents(None).withColumn("size", F.octet_length("content"))

    def size(self, spark: SparkSession, largest: int) -> InputSize:
        self._list(spark, largest)
        rows = self.measured().withColumn("read", F.coalesce(is_readable(), F.lit(True)))
        row = rows.agg(
            F.count_distinct(F.when(F.col("read"), F.col("repository"))),
            F.count_if("read"),
            F.sum(F.when(F.col("read"), F.col("size"))),
            F.count("*"),
        ).collect()[0]
        return InputSize(row[0], row[1], row[2] or 0, row[3] - row[1])

    def look(
        self,
        spark: SparkSession,
        store: Store | None,
        run: str,
        settings: str,
        largest: int,
        *,
        comparing: bool = False,
    ) -> None:
        self._settings = settings
        self._list(spark, largest)
        if not self.count():
            raise EmptyInput(f"no input: none of the {self.passed_over()} rows of {self.name} is a file to read")

    def _list(self, spark: SparkSession, largest: int) -> None:
        self._largest, self._counts, self._described = largest, None, None
        self._listed = self.list_rows(spark).withColumn("read", F.coalesce(is_readable(), F.lit(True)))

    def describe(self, job: worker.Job, only: DataFrame | None = None) -> DataFrame:
        """Return the files to read (``schema.FILES``), those of a repository next to each other."""
        if self._described is None:
            content, largest = F.col("content"), job.largest.file
            # A file of any size comes to Python as its beginning.
            beginning = F.substring(content, 1, min(largest, BEGINNING))
            files = self._identified(only).withColumn(
                "content", F.when(F.col("size") > largest, beginning).otherwise(content)
            )
            described = files.mapInArrow(partial(worker.describe, job=job), ddl(FILES))
            self._described = described.repartition(self._parts(), "repository").persist()
        return self._described

    def _parts(self) -> int:
        """Return the number of tasks that group files by repository."""
        return max(1, min(_MOST_PARTS, math.ceil(self.count() / _GROUPED)))

    def _identified(self, only: DataFrame | None) -> DataFrame:
        """Return the files to read with what tells whether they have changed: `problem`, `size` and `digest`."""
        content = F.col("content")
        size = F.coalesce(F.octet_length(content).cast("bigint"), F.lit(0).cast("bigint"))
        problem = F.when(F.col("path").isNull(), "it has no path").when(content.isNull(), "it has no content")
        columns = (problem.alias("problem"), size.alias("size"), _digest().alias("digest"), "content")
        return self._to_read(only).select("repository", "path", *columns)

    def _to_read(self, only: DataFrame | None) -> DataFrame:
        return self.contents(only).where(is_readable() | F.col("path").isNull())

    def repositories(self, job: worker.Job) -> DataFrame:
        # Sums of hashes do not depend on the order of the files, and take no more room for many than for few.
        if self.has_commits:
            assert self._listed is not None
            files, version = self._listed.where("read"), [F.col("commit")]
            known = F.count("commit") == F.count("*")
        else:
            # Contents are compared before anything else is done with them: of a file that has not changed only the
            # digest is computed.
            files = self._described if self._described is not None else self._identified(None)
            version, known = [F.col("digest"), F.col("problem")], F.lit(True)
        names = [F.coalesce("path", F.lit("")), *version]
        sums = [
            F.sum(F.xxhash64(*names, F.lit(seed)).cast("decimal(38,0)")).cast("string") for seed in ("one", "another")
        ]
        state = F.sha2(F.concat_ws(" ", F.lit(self._settings), F.count("*").cast("string"), *sums), 256)
        return files.groupBy("repository").agg(F.when(known, state).alias("state"), F.count("*").alias("files"))

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        described = self.describe(job, None if standing is None else standing.of("changed"))
        return described.sortWithinPartitions("repository").mapInArrow(partial(worker.group, job=job), ddl(EXAMINED))

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        fate = F.col("member.fate")
        place = ("repository", "unit", "salt", "cost")
        members = (
            units.select(*place, F.posexplode("members").alias("ordinal", "member"))
            .where(fate.isNull() | fate.isin(*filter(None, GIVEN_TO_THE_LINTER)))
            .select(*place, "ordinal", "member.path", "member.digest")
        )
        needed = members.select("repository", "path").distinct() if self.filter_early else None
        small = F.octet_length("content") <= job.largest.file
        contents = self._to_read(needed).where(small).withColumn("digest", _digest()).drop("commit")
        files = contents.join(members, ["repository", "path", "digest"]).drop("path", "digest")
        heads = units.select(
            *place, F.lit(-1).alias("ordinal"), F.struct(*(column.name for column in EXAMINED)).alias("row")
        )
        ready = (
            heads.unionByName(files, allowMissingColumns=True)
            .repartition(parts, "salt")
            .sortWithinPartitions("cost", "repository", "unit", "ordinal")
            .select(*(column.name for column in CONTENTS))
        )
        return ready.mapInArrow(partial(worker.lint_contents, job=job), ddl(EXAMINED))

    def _counted(self) -> tuple[int, int]:
        """Return the rows, and those of them that are files to read."""
        assert self._listed is not None
        if self._counts is None:
            row = self._listed.agg(F.count("*"), F.count_if("read")).collect()[0]
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
