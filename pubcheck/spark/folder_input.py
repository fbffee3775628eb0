"""Repositories in folders as the input of an audit: the driver lists their files, the workers read them."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pubcheck.config import Config
from pubcheck.discovery.file_types import label_of
from pubcheck.discovery.owners import owners_states
from pubcheck.discovery.repositories import Repository, find_repositories, fixed_part
from pubcheck.spark import worker
from pubcheck.spark.costs import cost, tasks
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.inputs import EmptyInput, InputSize, without_trailing_separators
from pubcheck.spark.schema import EXAMINED, LISTING, arrow, ddl
from pubcheck.spark.store import Store

_CHUNK = 40_000
"""Files that the driver holds at a time."""
_SURVEYED = 5_000
"""Files that are looked through in one task: a second of work, of which Spark's own part is a twentieth."""


class FolderInput:
    """Repositories in folders, as ``find_repositories`` finds them. Their files are opened by the workers."""

    def __init__(self, where: str, config: Config = Config()) -> None:
        self.name = without_trailing_separators(where)
        self.top = _top(where)
        self._where, self._config = where, config
        self._repositories = self._count = self._cost = 0
        self._written = False
        self._listing: Callable[[], DataFrame] | None = None

    def size(self, spark: SparkSession, largest: int) -> InputSize:
        repositories = files = size = 0
        for repository in find_repositories(self._where, self._config):
            repositories += 1
            files += len(repository.files)
            size += state_of(repository, 0, "")[1]
        return InputSize(repositories, files, size)

    def look(self, spark: SparkSession, store: Store, run: str, settings: str, largest: int) -> str | None:
        self._repositories = self._count = self._cost = 0
        self._written = False
        whole: hashlib._Hash | None = hashlib.sha256()
        chunk = Chunk()
        listed = time.time_ns()
        for repository in find_repositories(self._where, self._config):
            if chunk.files >= _CHUNK:
                store.write(self._frame(spark, chunk), "listing", run, more=self._written)
                self._written, chunk = True, Chunk()
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
    def _frame(spark: SparkSession, chunk: Chunk) -> DataFrame:
        return spark.createDataFrame(chunk.table(), ddl(LISTING))

    def repositories(self, job: worker.Job) -> DataFrame:
        return self._listed().select("repository", "state", "files")

    def _listed(self) -> DataFrame:
        assert self._listing is not None
        return self._listing()

    def units(self, standing: RepositoryDiff | None, job: worker.Job) -> DataFrame:
        listing = self._listed()
        if standing is None:
            parts = tasks(self._cost)
        else:
            listing = listing.join(standing.of("changed"), "repository", "left_semi")
            parts = math.ceil(self._count * standing.changed / self._repositories / _SURVEYED)
        examine = partial(worker.examine, job=job, at_once=standing is None)
        return listing.repartition(parts).mapInArrow(examine, ddl(EXAMINED))

    def linted(self, units: DataFrame, parts: int, job: worker.Job) -> DataFrame:
        placed = units.repartition(parts, "salt").select(*(column.name for column in EXAMINED))
        return placed.mapInArrow(partial(worker.lint_units, job=job), ddl(EXAMINED))

    def count(self) -> int:
        return self._count

    def passed_over(self) -> int:
        return 0

    def forget(self, store: Store, run: str) -> None:
        if self._written:
            store.remove("listing", run)


def _top(where: str) -> str:
    """Return the folder of a path, or of a pattern: the part before the first wildcard."""
    label, fixed = label_of(where).rstrip("/"), fixed_part(where)
    if fixed is not None:
        top = "".join(f"{label_of(part)}/" for part in fixed)
    else:
        top = label + "/" if os.path.isdir(where) else label[: label.rfind("/") + 1]
    return top.removeprefix("./")  # as in the labels of files


class Chunk:
    """Repositories, held as columns: a fraction of what they take as rows."""

    def __init__(self) -> None:
        self.files = 0
        self._columns: tuple[list[object], ...] = tuple([] for _ in LISTING[:-1])
        self._members: tuple[list[str], list[bytes], list[str | None]] = ([], [], [])
        self._offsets = [0]

    def add(self, repository: Repository, state: str | None, cost: int) -> None:
        places = ([os.fsencode(path) for path in paths] for paths in (repository.tops, repository.included))
        fields = (
            repository.name,
            state,
            len(repository.files),
            cost,
            *places,
            repository.linked,
            os.fsencode(repository.root),
        )
        for column, value in zip(self._columns, fields, strict=True):
            column.append(value)
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
