"""What runs in Spark's Python workers: Arrow batches in, Arrow batches out. Knows the core, and nothing of Spark.

Whatever looks into a file happens in a process of the worker's own (`child`), with a deadline and a limit of memory.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
from msgspec import Struct

from pubcheck.diagnostics import SEVERITIES
from pubcheck.fingerprints import fingerprints
from pubcheck.spark.costs import SMALL
from pubcheck.spark.lint_process import Examine, Limits, Request, RequestFile, request_of
from pubcheck.spark.process_client import ChildProcess
from pubcheck.spark.schema import EXAMINED, FACTS, FOUND, LINTED, LISTING, MEMBER, OUTCOMES, arrow
from pubcheck.spark.unit_discovery import (
    DiscoveredFile,
    DiscoveredUnit,
    FileInspection,
    FileToInspect,
    Largest,
    Member,
    Survey,
    after_linting,
    given_up,
)

Row = dict[str, Any]

_EXAMINED, _FACTS, _LINTED = arrow(EXAMINED), arrow(FACTS), arrow(LINTED)
_BATCH = 5000
"""Units, their members, and rows of the tables that come of them, after which they are handed on."""
_GLIMPSED, _GLIMPSED_BYTES = 200, 1 << 20
"""Files, and bytes of them, that are looked at together."""
_SMALL = 16
"""Repositories that are examined together, at the most."""


class Job(Struct, frozen=True):
    """What a step is given: the linter, pickled, what a unit may take, how large it may be, what stands for all but the
    files that findings depend on, and the ``top`` below which labels say where a file lies (``Input.top``)."""

    linter: bytes
    limits: Limits
    largest: Largest
    rules: str
    top: str

    @property
    def process(self) -> ChildProcess:
        """The process of this worker: it outlives a task, for Spark gives a worker many."""
        global _child
        if _child is None or (_child.linter, _child.limits) != (self.linter, self.limits):
            # What is made here are many values and no cycles, and Spark has all of them looked through after each task:
            # what was loaded until now shall not be. Reset by nobody, for the worker does nothing else.
            gc.set_threshold(100_000)
            gc.freeze()
            if _child is not None:
                _child.close()
            _child = ChildProcess(self.linter, self.limits)
        return _child


_child: ChildProcess | None = None


# Which units there are.


def examine(batches: Iterable[pa.RecordBatch], *, job: Job, at_once: bool) -> Iterator[pa.RecordBatch]:
    """The units of repositories that lie in folders; ``at_once``: those of a small repository are linted as well, which
    saves to hand them on and to read them twice."""
    told = _linted_at_once if at_once else _surveyed
    yield from _in_batches(told(_listed(batches), job), _examined)


def group(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """The units of repositories that are rows of a table, given with those of a repository next to each other."""
    yield from _in_batches(_surveyed(_scanned(batches), job), _examined)


class _Repository(NamedTuple):
    """With its files, and what linting all of it costs, where that is known."""

    name: str
    files: list[DiscoveredFile]
    cost: int = 0


def _listed(batches: Iterable[pa.RecordBatch]) -> Iterator[_Repository]:
    for batch in batches:
        names, costs = batch.column("repository").to_pylist(), batch.column("cost").to_pylist()
        for name, cost, files in zip(names, costs, _nested(batch.column("members"), _LISTED), strict=True):
            yield _Repository(name, [DiscoveredFile(*file) for file in files], cost)


_LISTED = tuple(field.name for field in LISTING[-1].type.value_type)
_MEMBER = tuple(column.name for column in MEMBER)


def _scanned(batches: Iterable[pa.RecordBatch]) -> Iterator[_Repository]:
    rows = (row for batch in batches for row in batch.to_pylist())
    for name, files in groupby(rows, itemgetter("repository")):
        seen = [
            DiscoveredFile(
                row["path"],
                None,
                row["problem"],
                row["fate"],
                row["detail"],
                row["trace"],
                row["size"],
                row["digest"],
                row["may_publish"],
                row["traits"],
                row["names"],
            )
            for row in files
        ]
        yield _Repository(name, seen)


def _surveyed(repositories: Iterable[_Repository], job: Job) -> Iterator[_Told]:
    for repository in repositories:
        for unit in _units(repository.files, job):
            yield (repository.name, *unit), _NOT_LINTED


def _linted_at_once(repositories: Iterable[_Repository], job: Job) -> Iterator[_Told]:
    """The small ones, some together; a large one comes alone, and is only looked through."""
    for together in _together(repositories, attrgetter("cost"), SMALL, _SMALL):
        answer = None
        if sum(repository.cost for repository in together) <= SMALL:
            surveys = (Survey(tuple(repository.files), job.largest, job.rules) for repository in together)
            answer = job.process.ask(Examine(tuple(surveys)))
        if answer is None or answer["failure"] is not None:  # of one of them, whichever it was
            yield from _surveyed(together, job)
            continue
        for repository, (found, replies) in zip(together, answer["found"], strict=True):
            reply = iter(replies)
            for unit in found:
                outcome = _outcome(repository.name, next(reply), job) if unit[_STEP] == "linted" else _NOT_LINTED
                yield (repository.name, *unit), outcome


_STEP = DiscoveredUnit.__struct_fields__.index("step")


def _units(files: list[DiscoveredFile], job: Job) -> list[list[Any]]:
    """The units of a repository, as ``Found`` is encoded. A file that the search dies of, or takes too long for, has
    that as its fate; where all of them together are too much, every file has."""
    wanted = Survey(tuple(files), job.largest, job.rules)
    reply = job.process.ask(wanted)
    if reply["failure"] is not None:
        for file in files:
            if file.location is not None and file.problem is None:
                alone = job.process.ask(
                    FileInspection((FileToInspect(file.label or "", file.location, None),), job.largest.file)
                )
                _doom(file, alone["failure"])
        if any(file.fate is not None for file in files):
            reply = job.process.ask(wanted)
    if reply["failure"] is not None:
        for file in files:
            if file.fate is None:
                _doom(file, reply["failure"])
        return [_encoded(each) for each in given_up(wanted)]
    found: list[list[Any]] = reply["found"]
    return found


def _encoded(found: DiscoveredUnit) -> list[Any]:
    fields: list[Any] = msgspec.to_builtins(found, builtin_types=(bytes,))
    return fields


def _doom(file: DiscoveredFile, failure: Row | None) -> None:
    if failure is not None:
        file.fate, file.detail, file.trace = failure["reason"], failure["detail"], failure["trace"]


_Told = tuple[Sequence[Any], Row]
"""What is known of a unit, and what came of it."""


def _in_batches(
    told: Iterable[_Told], made: Callable[[Sequence[Sequence[Any]], Sequence[Row]], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    def weight(each: _Told) -> int:
        unit, outcome = each
        return 1 + sum(len(field) for field in (*unit, *outcome.values()) if isinstance(field, list | tuple))

    for batch in _together(told, weight, _BATCH, _BATCH):
        yield made(*zip(*batch, strict=True))


_T = TypeVar("_T")


def _together(given: Iterable[_T], weight: Callable[[_T], int], weighing: int, most: int) -> Iterator[list[_T]]:
    """The same in pieces, of so many at the most, that do not weigh more, unless one does by itself."""
    taken: list[_T] = []
    weighed = 0
    for each in given:
        heavy = weight(each)
        if taken and (weighed + heavy > weighing or len(taken) >= most):
            yield taken
            taken, weighed = [], 0
        taken.append(each)
        weighed += heavy
    if taken:
        yield taken


def _examined(units: Sequence[Sequence[Any]], outcomes: Sequence[Row]) -> pa.RecordBatch:
    """Units, as FOUND, and what came of them."""
    *columns, members = zip(*units, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _EXAMINED, strict=False)]
    arrays.append(_lists(members, _EXAMINED.field("members").type))
    return pa.RecordBatch.from_arrays([*arrays, *_columns(outcomes)], schema=_EXAMINED)


def _linted(keys: Sequence[Sequence[Any]], outcomes: Sequence[Row]) -> pa.RecordBatch:
    """Repositories and names of units, and what came of them."""
    key = [pa.array(column, pa.string()) for column in zip(*keys, strict=True)]
    return pa.RecordBatch.from_arrays([*key, *_columns(outcomes)], schema=_LINTED)


def _lists(given: Sequence[Sequence[Sequence[Any]]], kind: pa.ListType) -> pa.ListArray:
    """Lists of structs, of each of which the fields are given in order: far faster than from dicts."""
    fields = list(kind.value_type)
    flat = [row for each in given for row in each]
    columns = zip(*flat, strict=True) if flat else [()] * len(fields)
    made = [pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)]
    offsets = pa.array([0, *accumulate(map(len, given))], pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(made, fields=fields))


def _nested(lists: pa.ListArray, names: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """The structs in each of the lists as tuples of these fields: far faster than as dicts."""
    flat = lists.flatten()
    rows = list(zip(*(flat.field(name).to_pylist() for name in names), strict=True))
    end = 0
    for length in lists.value_lengths().to_pylist():
        yield rows[end : end + length]
        end += length


def describe(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """What of the contents of files decides where they belong."""
    for batch in batches:
        rows: list[Row] = []
        for files in _together(_rows(batch), lambda row: len(row["content"]), _GLIMPSED_BYTES, _GLIMPSED):
            rows += _described(files, job)
        yield pa.RecordBatch.from_pylist(rows, schema=_FACTS)


def _described(files: list[Row], job: Job) -> Iterator[Row]:
    asked = FileInspection(tuple(FileToInspect(row["path"], None, row["content"]) for row in files), job.largest.file)
    reply = job.process.ask(asked)
    if reply["failure"] is None:
        for row, facts in zip(files, reply["found"], strict=True):
            yield _facts(row) | {"traits": facts[0], "names": facts[1]}
    elif len(files) > 1:
        for row in files:
            yield from _described([row], job)
    else:
        failure = reply["failure"]
        yield _facts(files[0]) | {"fate": failure["reason"], "detail": failure["detail"], "trace": failure["trace"]}


def _facts(row: Row) -> Row:
    return {name: row[name] for name in ("repository", "path", "digest")}


# Linting.


def lint_files(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Units whose files lie in folders, with what came of them."""

    def told() -> Iterator[_Told]:
        for repository, unit in (each for batch in batches for each in _found(batch)):
            outcome = _outcome(repository, job.process.ask(request_of(unit)), job)
            yield (repository, *_encoded(after_linting(unit, failed=outcome["failed"] is not None))), outcome

    yield from _in_batches(told(), _examined)


def _found(batch: pa.RecordBatch) -> Iterator[tuple[str, DiscoveredUnit]]:
    """Repositories, and units of them."""
    columns = (batch.column(column.name).to_pylist() for column in FOUND[:-1])
    for repository, *told, members in zip(*columns, _nested(batch.column("members"), _MEMBER), strict=True):
        yield repository, DiscoveredUnit(*(*told, tuple(Member(*member) for member in members)))


def lint_contents(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """What came of units whose files come with their contents, a row a file, with those of a unit in order and next to
    each other."""
    rows = (row for batch in batches for row in _rows(batch))
    told = (
        ((repository, asked.name), _outcome(repository, job.process.ask(asked), job))
        for repository, asked in _units_with_contents(rows)
    )
    yield from _in_batches(told, _linted)


def _units_with_contents(rows: Iterable[Row]) -> Iterator[tuple[str, Request]]:
    for (repository, unit, habit, majors), files in groupby(rows, itemgetter("repository", "unit", "habit", "majors")):
        # Rows that are wholly alike were joined to the one that counts.
        chosen = (next(same) for _, same in groupby(files, itemgetter("ordinal")))
        given = tuple(RequestFile(row["path"], None, row["content"], row["problem"], row["view"]) for row in chosen)
        yield repository, Request(given, unit, habit, tuple(majors))


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows, with one content at a time: a batch of contents is large enough once."""
    contents = batch.column("content")
    for at, row in enumerate(batch.drop_columns(["content"]).to_pylist()):
        row["content"] = contents[at].as_py()
        yield row


def _columns(outcomes: Sequence[Row]) -> list[pa.Array]:
    """Outcomes as the columns OUTCOMES."""
    names = [column.name for column in OUTCOMES]
    columns = {name: [outcome[name] for outcome in outcomes] for name in names}
    return [
        _lists(columns[name], _LINTED.field(name).type)
        if name == "published"
        else pa.array(columns[name], _LINTED.field(name).type)
        for name in names
    ]


_NOT_LINTED: Row = {
    "findings": [],
    **{f"{severity}s": 0 for severity in SEVERITIES},
    "published": [],
    "quarantine": [],
    "unread": 0,
    "postgres": None,
    "statements": 0,
    "seconds": 0.0,
    "failed": None,
}


def _outcome(repository: str, reply: Row, job: Job) -> Row:
    failure, unread = reply["failure"], reply["unread"]
    counts = dict.fromkeys(SEVERITIES, 0)
    for finding, fingerprint in zip(
        reply["findings"], fingerprints(reply["findings"], repository, job.top), strict=True
    ):
        finding["fingerprint"] = fingerprint
        counts[finding["severity"]] += 1
    return {
        "findings": reply["findings"],
        **{f"{severity}s": number for severity, number in counts.items()},
        "published": reply["published"],
        "quarantine": unread if failure is None else [*unread, failure],
        "unread": len(unread),
        "postgres": reply["postgres"],
        "statements": reply["statements"],
        "seconds": reply["seconds"],
        "failed": failure["reason"] if failure is not None else None,
    }
