"""Repositories in folders as the input of an audit.

The driver lists the files of a small corpus, which takes less time than to start tasks. Of a larger one it knows only
the names of the repositories, whose files are listed by tasks. All are read by the workers.

To compare a larger corpus with an earlier run, tasks find the states of its repositories and keep no files. Those of
repositories that have changed are then listed again.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, nullcontext
from functools import cache, partial
from itertools import islice

import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from pubcheck.config import Config
from pubcheck.discovery.file_types import label_of
from pubcheck.discovery.walk import (
    Repository,
    RepositoryPlace,
    find_places,
    find_repositories,
    fixed_part,
    owners_states,
    read_place,
)
from pubcheck.spark import worker
from pubcheck.spark.costs import cost, tasks
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.inputs import EmptyInput, InputSize
from pubcheck.spark.paths import without_trailing_separators
from pubcheck.spark.schema import EXAMINED, LISTING, PLACES, arrow, ddl
from pubcheck.spark.store import Store
from pubcheck.spark.unit_discovery import encode_files

_LISTED_HERE = 16_000
"""Files that the driver lists."""
_PLACES = 50_000
"""The number of repositories listed by tasks that the driver holds at a time."""
_SAMPLE = 1_000
"""Files from which the driver estimates how many there are."""
_LISTED_IN_A_TASK = 10_000
"""Files that a task lists: two tenths of a second on a local disk. Spark takes a twentieth."""
_WRITTEN = 2
"""Tasks that write the states of repositories. These are short, and to begin a file takes as long as to list 2,000."""
_SURVEYED = 5_000
"""The number of files scanned in one task. This takes a second; Spark itself takes a twentieth of it."""


class FolderInput:
    """Repositories in folders, as ``find_repositories`` finds them. Their files are opened by the workers."""

    def __init__(self, where: str, config: Config = Config()) -> None:
        self.name = without_trailing_separators(where)
        self.top = _top(where)
        self._where, self._config = where, config
        self._totals = Totals()
        self._written = self._brief = False
        self._listing: Callable[[], DataFrame] | None = None
        self._list: Callable[[DataFrame, float], None] = lambda places, files: None

    def size(self, spark: SparkSession, largest: int) -> InputSize:
        repositories = files = size = 0
        for repository in find_repositories(self._where, self._config):
            repositories += 1
            files += len(repository.files)
            size += state_of(repository, 0, "")[1]
        return InputSize(repositories, files, size)

    def look(
        self, spark: SparkSession, store: Store, run: str, settings: str, largest: int, *, comparing: bool = False
    ) -> str | None:
        places = find_places(self._where, self._config)
        waiting = list(islice(places, _PLACES))
        first, number = self._listed_here(waiting, settings)

        @cache
        def listing() -> DataFrame:
            return spark.createDataFrame(first.table(), ddl(LISTING))

        def list_files(places: DataFrame, files: float) -> None:
            frame = self._listed_by_tasks(places, files, settings)
            if not self._written:
                frame = frame.union(_without_files(listing()) if self._brief else listing())
            if self._brief:
                frame = frame.repartition(_WRITTEN)
            store.write(frame, "listing", run, more=self._written)
            self._written = True

        self._list, self._written = list_files, False
        waiting, density = waiting[number:] or list(islice(places, _PLACES)), first.files / max(1, number)
        self._brief = comparing and bool(waiting)
        while waiting:
            list_files(_frame(spark, waiting), len(waiting) * density)
            waiting = list(islice(places, _PLACES))
        self._listing = (lambda: store.read(LISTING, "listing", run)) if self._written else listing
        self._totals = _totals(self._listing()) if self._written else first.totals
        if not self._totals.files:
            raise EmptyInput(f"no input: no .sql file under {self.name}")
        return self._totals.state

    def _listed_here(self, places: Sequence[RepositoryPlace], settings: str) -> tuple[Chunk, int]:
        """Return the repositories of the first places, and the number of these: of all, unless they seem to hold too
        many files for the driver."""
        first, tops, number = Chunk(), dict[str, str | None](), 0
        for number, place in enumerate(places, 1):
            first.read(place, self._config, settings, tops)
            if first.files >= min(_SAMPLE, _LISTED_HERE) and first.files * len(places) > number * _LISTED_HERE:
                break
        return first, number

    def _listed_by_tasks(self, places: DataFrame, files: float, settings: str) -> DataFrame:
        """Return the repositories of places as tasks list them, which hold about so many files."""
        spread = places.repartition(max(1, math.ceil(files / _LISTED_IN_A_TASK)))
        listed = partial(list_places, config=self._config, settings=settings, folder=os.getcwd(), brief=self._brief)
        return spread.mapInArrow(listed, ddl(LISTING))

    def repositories(self, job: worker.Job) -> DataFrame:
        return self._listed().select("repository", "state", "files")

    def _listed(self) -> DataFrame:
        assert self._listing is not None
        return self._listing().where(F.col("members").isNull() == F.lit(self._brief))

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        listing, files = self._listed(), float(self._totals.files)
        if standing is not None:
            listing = listing.join(standing.of("changed"), "repository", "left_semi")
            files *= standing.changed / self._totals.repositories
        if self._brief:
            listing = self._listed_again(listing, files)
        parts = tasks(self._totals.cost) if standing is None else math.ceil(files / _SURVEYED)
        examine = partial(worker.examine, job=job, at_once=standing is None)
        return listing.repartition(parts).mapInArrow(examine, ddl(EXAMINED))

    def _listed_again(self, repositories: DataFrame, files: float) -> DataFrame:
        """Return repositories with their files, of which there are about so many. Their states and numbers of files
        are those of now from here on: a file may have been written meanwhile."""
        self._brief = False
        self._list(repositories.select(F.col("repository").alias("name"), "path", "into"), files)
        listing = self._listed()
        difference = repositories.select(-F.col("files")).union(listing.select("files")).toDF("files")
        change = difference.agg(F.sum("files")).collect()[0][0] or 0
        self._totals = replace(self._totals, files=self._totals.files + change)
        return listing

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        placed = units.repartition(parts, "salt").select(*(column.name for column in EXAMINED))
        return placed.mapInArrow(partial(worker.lint_units, job=job), ddl(EXAMINED))

    def count(self) -> int:
        return self._totals.files

    def passed_over(self) -> int:
        return 0

    def forget(self, store: Store, run: str) -> None:
        if self._written:
            store.remove("listing", run)


def _frame(spark: SparkSession, places: Sequence[RepositoryPlace]) -> DataFrame:
    columns = {column.name: [getattr(place, column.name) for place in places] for column in PLACES}
    columns["path"] = [os.fsencode(place.path) for place in places]
    return spark.createDataFrame(pa.table(columns, arrow(PLACES)), ddl(PLACES))


def _without_files(listing: DataFrame) -> DataFrame:
    return listing.withColumn("members", F.lit(None).cast("binary"))


def _top(where: str) -> str:
    """Return the folder of a path, or of a pattern: the part before the first wildcard."""
    label, fixed = label_of(where).rstrip("/"), fixed_part(where)
    if fixed is not None:
        top = "".join(f"{label_of(part)}/" for part in fixed)
    else:
        top = label + "/" if os.path.isdir(where) else label[: label.rfind("/") + 1]
    return top.removeprefix("./")  # as in the labels of files


class Totals(Struct, frozen=True):
    """The repositories of an input, their files, the cost of linting them, and the state of all of them, if known."""

    repositories: int = 0
    files: int = 0
    cost: int = 0
    state: str | None = None


def _totals(listing: DataFrame) -> Totals:
    """Count a listing; the state does not depend on the order of the repositories."""
    sums = [
        F.sum(F.xxhash64("repository", "state", F.lit(seed)).cast("decimal(38,0)")).cast("string")
        for seed in ("one", "another")
    ]
    state = F.when(F.count("state") == F.count("*"), F.sha2(F.concat_ws(" ", *sums), 256))
    row = listing.agg(F.count("*"), F.sum("files"), F.sum("cost"), state).collect()[0]
    return Totals(*row)


def list_places(
    batches: Iterable[pa.RecordBatch], *, config: Config, settings: str, folder: str, brief: bool
) -> Iterator[pa.RecordBatch]:
    """Return the repositories of places (``schema.PLACES``) that hold a file to read; their paths may be relative to a
    ``folder``. ``brief``: without their files."""
    worker.relieve_collector()
    tops: dict[str, str | None] = {}
    for batch in batches:
        chunk = Chunk(brief=brief)
        with chdir(folder) if os.path.isdir(folder) else nullcontext():
            for row in batch.to_pylist():
                chunk.read(RepositoryPlace(**{**row, "path": os.fsdecode(row["path"])}), config, settings, tops)
        yield from chunk.table().to_batches()


class Chunk:
    """Repositories, held as columns: a fraction of what they take as rows. ``brief``: without their files."""

    def __init__(self, *, brief: bool = False) -> None:
        self._brief = brief
        self.files = self._cost = 0
        self._whole: hashlib._Hash | None = hashlib.sha256()
        self._columns: tuple[list[object], ...] = tuple([] for _ in LISTING)

    def read(self, place: RepositoryPlace, config: Config, settings: str, tops: dict[str, str | None]) -> None:
        """Add the repository of a place, if it holds a file to read."""
        begun = time.time_ns()
        for repository in read_place(place, config, tops):
            state, size = state_of(repository, begun, settings)
            self._add(place, repository, state, cost(size, len(repository.files)))
            if state is None:
                self._whole = None
            elif self._whole is not None:
                self._whole.update(f"{repository.name}\t{state}\n".encode())

    @property
    def totals(self) -> Totals:
        state = None if self._whole is None else self._whole.hexdigest()
        return Totals(len(self._columns[0]), self.files, self._cost, state)

    def _add(self, place: RepositoryPlace, repository: Repository, state: str | None, cost: int) -> None:
        self._cost += cost
        places = ([os.fsencode(path) for path in paths] for paths in (repository.tops, repository.included))
        # Absolute: where a worker is, is not known.
        files = ((file.label, os.fsencode(path), file.error) for path, file in repository.files)
        fields = (
            repository.name,
            state,
            len(repository.files),
            cost,
            *places,
            repository.linked,
            os.fsencode(repository.root),
            os.fsencode(place.path),
            place.into,
            None if self._brief else encode_files(files),
        )
        for column, value in zip(self._columns, fields, strict=True):
            column.append(value)
        self.files += len(repository.files)

    def table(self) -> pa.Table:
        schema = arrow(LISTING)
        columns = [pa.array(values, field.type) for values, field in zip(self._columns, schema, strict=True)]
        return pa.Table.from_arrays(columns, schema=schema)


_TICK, _COARSE = 100_000_000, 2_100_000_000
"""Nanoseconds by which the times of files may lag behind the clock: where the file system counts parts of a second, and
where it counts seconds, or every other one."""


def state_of(repository: Repository, listed: int, settings: str) -> tuple[str | None, int]:
    """Return a digest of the files of a repository (names, sizes, times, inodes), and their number of bytes.

    The digest is None if a file was written shortly before ``listed`` (in nanoseconds): a second write might not change
    its times (Git calls such entries racy).
    """
    lines = [settings, *repository.tops, *owners_states(repository.root)]
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
