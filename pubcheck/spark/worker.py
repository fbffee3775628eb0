"""The code that runs in Spark's Python workers: Arrow batches in, Arrow batches out. It does not import Spark.

All reading of files happens in a process of the worker's own (``lint_process``), with a deadline and a limit of memory.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import attrgetter, itemgetter
from typing import Any, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from pubcheck.discovery.walk import OWNERS
from pubcheck.spark.costs import SMALL
from pubcheck.spark.lint_process import Answer, Examine, Limits, LintUnit
from pubcheck.spark.process_client import ChildProcess
from pubcheck.spark.schema import EXAMINED, FILES, MEMBER, RESULTS, arrow
from pubcheck.spark.unit_discovery import (
    FileInspection,
    FileToInspect,
    Largest,
    RepositoryFiles,
    ScannedFile,
    decode_files,
    undiscovered,
)
from pubcheck.spark.unit_row import MemberRow, Quarantined, UnitRow, unpacked

Row = list[Any]
"""The fields of a ``UnitRow`` in their order, as the process sends them and as Arrow takes them."""
FileRow = dict[str, Any]
"""A row of a table of files."""

_EXAMINED, _FILES = arrow(EXAMINED), arrow(FILES)
_BATCH = 5000
"""Units, their members, and rows of the tables that come of them, after which they are handed on."""
_ROW = 256
"""Bytes that are taken for a row of a table where rows are encoded."""
_INSPECTED, _INSPECTED_BYTES = 200, 1 << 20
"""Files, and bytes of them, that are looked at together."""
_SMALL = 16
"""Repositories that are examined together, at the most."""


class Counter(Protocol):
    """A number that the driver adds up over all tasks."""

    def add(self, term: int, /) -> None: ...


class JobCounters(Protocol):
    """Counters of units that were linted, and of their findings."""

    @property
    def units(self) -> Counter: ...
    @property
    def errors(self) -> Counter: ...
    @property
    def warnings(self) -> Counter: ...


class Job(Struct, frozen=True):
    """The settings of a step: the linter, pickled, the limits of a unit, its largest size, ``rules``, a fingerprint of
    everything except the files that findings depend on, ``top``, the beginning of the labels that is left out of
    fingerprints (``Input.top``), and ``counters``, which are shown meanwhile."""

    linter: bytes
    limits: Limits
    largest: Largest
    rules: str
    top: str
    counters: JobCounters | None = None

    @property
    def process(self) -> ChildProcess:
        """The process of this worker: it outlives a task, for Spark gives a worker many."""
        global _child
        if _child is None or (_child.linter, _child.limits) != (self.linter, self.limits):
            relieve_collector()
            if _child is not None:
                _child.close()
            _child = ChildProcess(self.linter, self.limits)
        return _child

    def examine(self, repositories: Iterable[RepositoryFiles], *, lint: bool) -> Examine:
        return Examine(tuple(repositories), self.largest, self.rules, self.top, lint)

    def lint(self, unit: UnitRow, contents: tuple[bytes | None, ...] = ()) -> Row:
        """Return the row of a unit with the result of linting it, also where its process dies."""
        answer = self.process.ask(LintUnit(unit, self.top, contents))
        if answer.rows:
            return answer.rows[0]
        assert answer.failure is not None
        return _encoded(unit.quarantined(answer.failure))


_child: ChildProcess | None = None


def relieve_collector() -> None:
    """Let the garbage collector run seldom, and leave out the modules that are loaded, because values here are many and
    have no cycles, and Spark runs it after each task. Nobody resets this: the worker does nothing else."""
    gc.set_threshold(100_000)
    gc.freeze()


# Which units there are.


def examine(batches: Iterable[pa.RecordBatch], *, job: Job, at_once: bool) -> Iterator[pa.RecordBatch]:
    """Return the units of repositories in folders. ``at_once``: those of a small repository are linted as well, which
    saves passing them on and reading them twice."""
    rows = _linted_at_once if at_once else _discovered
    yield from in_batches(rows(_listed(batches), job), job)


def group(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Return the units of repositories that are rows of a table; the rows of a repository are next to each other."""
    yield from in_batches(_discovered(_scanned(batches), job), job)


def _listed(batches: Iterable[pa.RecordBatch]) -> Iterator[RepositoryFiles]:
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in _LISTED)
        for name, files, *rest in zip(*columns, strict=True):
            yield RepositoryFiles(name, decode_files(files), *rest)


_LISTED = ("repository", "members", "cost", "tops", "included", "linked", "root")
_MEMBER = tuple(column.name for column in MEMBER)
_SCANNED = ("problem", "fate", "detail", "trace", "size", "digest", "may_publish", "traits", "names")


def _scanned(batches: Iterable[pa.RecordBatch]) -> Iterator[RepositoryFiles]:
    rows = (row for batch in batches for row in batch.to_pylist())
    for name, files in groupby(rows, itemgetter("repository")):
        scanned: list[ScannedFile] = []
        owners: dict[str, bytes] = {}
        for row in files:
            scanned.append(ScannedFile(row["path"], None, *map(row.get, _SCANNED)))
            if row["owners"] is not None:
                owners[row["path"]] = row["owners"]
        yield RepositoryFiles(name, scanned, owners=owners)


def _discovered(repositories: Iterable[RepositoryFiles], job: Job) -> Iterator[Row]:
    for repository in repositories:
        yield from _discover(repository, job)


def _linted_at_once(repositories: Iterable[RepositoryFiles], job: Job) -> Iterator[Row]:
    """Return the units of repositories. Small repositories are examined together and linted. The units of a large one
    are only discovered."""
    for together in _together(repositories, attrgetter("cost"), SMALL, _SMALL):
        answer: Answer[Row] | None = None
        if sum(repository.cost for repository in together) <= SMALL:
            answer = job.process.ask(job.examine(together, lint=True))
        if answer is None or answer.failure is not None:  # of one of them, whichever it was
            yield from _discovered(together, job)
        else:
            yield from answer.rows


def _discover(repository: RepositoryFiles, job: Job) -> Sequence[Row]:
    """Return the units of a repository. A file that the search dies of, or takes too long for, has that as its fate;
    where all of them together are too much, every file has."""
    request = job.examine([repository], lint=False)
    answer = job.process.ask(request)
    if answer.failure is not None:
        for file in repository.files:
            if file.location is not None and file.problem is None:
                alone = FileToInspect(file.label or "", file.location, None)
                _set_fate(file, job.process.ask(FileInspection((alone,), job.largest.file)).failure)
        if any(file.fate is not None for file in repository.files):
            answer = job.process.ask(request)
    if answer.failure is not None:
        for file in repository.files:
            if file.fate is None:
                _set_fate(file, answer.failure)
        return [_encoded(undiscovered(repository))]
    return answer.rows


def _set_fate(file: ScannedFile, failure: Quarantined | None) -> None:
    if failure is not None:
        file.fate, file.detail, file.trace = failure.reason, failure.detail, failure.trace


def _encoded(unit: UnitRow) -> Row:
    fields: Row = msgspec.to_builtins(unit, builtin_types=(bytes,))
    return fields


def in_batches(rows: Iterable[Row], job: Job) -> Iterator[pa.RecordBatch]:
    """Return units as batches of ``schema.EXAMINED``, and count those that were linted."""

    def weight(row: Row) -> int:
        lists = sum(len(field) for field in row if isinstance(field, list | tuple))
        return 1 + lists + sum(len(field) for field in row if isinstance(field, bytes)) // _ROW

    for batch in _together(rows, weight, _BATCH, _BATCH):
        examined = _examined(batch)
        if job.counters is not None:
            linted = examined.filter(pc.equal(examined.column("step"), "linted"))
            job.counters.units.add(linted.num_rows)
            job.counters.errors.add(pc.sum(linted.column("errors")).as_py() or 0)
            job.counters.warnings.add(pc.sum(linted.column("warnings")).as_py() or 0)
        yield examined


_T = TypeVar("_T")


def _together(items: Iterable[_T], weight: Callable[[_T], int], heaviest: int, most: int) -> Iterator[list[_T]]:
    """Return the items in pieces of at most ``most`` that do not weigh more than ``heaviest``, unless one item does."""
    piece: list[_T] = []
    weighed = 0
    for item in items:
        added = weight(item)
        if piece and (weighed + added > heaviest or len(piece) >= most):
            yield piece
            piece, weighed = [], 0
        piece.append(item)
        weighed += added
    if piece:
        yield piece


def _examined(rows: Sequence[Row]) -> pa.RecordBatch:
    arrays = [
        _lists(column, field.type) if field.name == "members" else pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), _EXAMINED, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_EXAMINED)


def _lists(lists: Sequence[Sequence[Sequence[Any]]], kind: pa.ListType) -> pa.ListArray:
    """Lists of structs whose fields come in order: far faster than from dicts."""
    fields = list(kind.value_type)
    flat = [row for items in lists for row in items]
    columns = zip(*flat, strict=True) if flat else [()] * len(fields)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)]
    offsets = pa.array([0, *accumulate(map(len, lists))], pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, fields=fields))


def _nested(lists: pa.ListArray, names: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Return the structs in each of the lists as tuples of these fields: far faster than as dicts."""
    flat = lists.flatten()
    rows = list(zip(*(flat.field(name).to_pylist() for name in names), strict=True))
    end = 0
    for length in lists.value_lengths().to_pylist():
        yield rows[end : end + length]
        end += length


def unpack(batches: Iterable[pa.RecordBatch], *, table: str) -> Iterator[pa.RecordBatch]:
    """Return the rows of a table that units hold: the input has the key of a unit and its rows, encoded."""
    relieve_collector()
    schema = arrow(RESULTS[table])
    for batch in batches:
        encoded = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        units = ((repository, unit, unpacked(rows)) for repository, unit, rows in encoded if rows is not None)
        for piece in _together(units, lambda unit: len(unit[2]), _BATCH, _BATCH):
            rows = [row for _, _, rows in piece for row in rows]
            key = [[unit[part] for unit in piece for _ in unit[2]] for part in (0, 1)]
            columns: Iterable[Sequence[Any]] = zip(*rows, strict=True)  # the fields in the order of the columns
            if isinstance(rows[0], dict):
                columns = ([row.get(name) for row in rows] for name in schema.names[len(key) :])
            arrays = [pa.array(values, kind) for values, kind in zip((*key, *columns), schema.types, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def describe(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Return the rows of a table of files without their contents (``schema.FILES``). The input has a file's repository,
    path, size and digest, a ``problem`` if it cannot be read, and its content, or the beginning of a large one."""
    for batch in batches:
        rows: list[FileRow] = []
        for files in _together(_rows(batch), lambda row: len(row["content"] or b""), _INSPECTED_BYTES, _INSPECTED):
            rows += _described(files, job)
        yield pa.RecordBatch.from_pylist(rows, schema=_FILES)


def _described(files: list[FileRow], job: Job) -> Iterator[FileRow]:
    inspected = tuple(FileToInspect(row["path"], None, row["content"]) for row in files if row["problem"] is None)
    answer = job.process.ask(FileInspection(inspected, job.largest.file)) if inspected else Answer()
    failure = answer.failure
    if failure is not None and len(inspected) > 1:
        for row in files:
            yield from _described([row], job)
        return
    facts = iter(answer.facts)
    for row in files:
        size, problem = row["size"], row["problem"]
        described = {**row, "content": None, "may_publish": True}
        if problem is None and row["path"].rpartition("/")[2] == OWNERS:
            described["owners"] = row["content"]
        if problem is not None:
            described |= {"fate": "unreadable", "detail": problem}
        elif failure is not None:
            described |= {"fate": failure.reason, "detail": failure.detail, "trace": failure.trace}
        else:
            known = next(facts)
            described |= {"may_publish": known.may_publish, "traits": known.traits, "names": known.names}
        if problem is None and failure is None and size > job.largest.file:
            described |= {"fate": "too-large", "detail": f"{size} bytes", "may_publish": True}
        yield described


# Linting.


def lint_units(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Units whose files lie in folders, with the results."""
    rows = (job.lint(unit) for batch in batches for unit in units_of(batch))
    yield from in_batches(rows, job)


def units_of(batch: pa.RecordBatch) -> Iterator[UnitRow]:
    """Return the units of a batch of ``schema.EXAMINED``."""
    names = [field.name for field in _EXAMINED]
    place = names.index("members")
    columns = (batch.column(name).to_pylist() for name in names if name != "members")
    for *fields, members in zip(*columns, _nested(batch.column("members"), _MEMBER), strict=True):
        fields.insert(place, tuple(MemberRow(*member) for member in members))
        yield UnitRow(*fields)


def lint_contents(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Units whose files come with their contents (``schema.CONTENTS``), with the results. The rows of a unit are next
    to each other and begin with the one that holds it."""
    files = (row for batch in batches for row in _rows(batch))
    rows = (job.lint(unit, contents) for unit, contents in _units_with_contents(files))
    yield from in_batches(rows, job)


def _units_with_contents(rows: Iterable[FileRow]) -> Iterator[tuple[UnitRow, tuple[bytes | None, ...]]]:
    for _, (head, *files) in groupby(rows, itemgetter("repository", "unit")):
        fields = head["row"]
        members = tuple(MemberRow(*member.values()) for member in fields["members"])
        # Rows that are wholly alike were joined to the one that counts.
        contents = {row["ordinal"]: row["content"] for row in files}
        yield UnitRow(*{**fields, "members": members}.values()), tuple(map(contents.get, range(len(members))))


def _rows(batch: pa.RecordBatch) -> Iterator[FileRow]:
    """Return the rows, with one content at a time: a batch of contents is large enough once."""
    contents = batch.column("content")
    for index, row in enumerate(batch.drop_columns(["content"]).to_pylist()):
        row["content"] = contents[index].as_py()
        yield row
