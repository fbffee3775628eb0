"""What runs in Spark's Python workers: Arrow batches in, Arrow batches out. Knows the core, and nothing of Spark.

Whatever looks into a file happens in a process of the worker's own (`child`), with a deadline and a limit of memory.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct

from pubcheck.report.fingerprints import fingerprints
from pubcheck.spark.child import Limits, Request, RequestFile
from pubcheck.spark.process import ChildProcess
from pubcheck.spark.survey import LINTED_ALL_THE_SAME, Glimpsed, Look, Seen, Survey, given_up
from pubcheck.spark.tables import FACTS, FOUND, LISTING, MEMBER, OUTCOMES, arrow

Row = dict[str, Any]

_FOUND, _FACTS, _OUTCOMES = arrow(FOUND), arrow(FACTS), arrow(OUTCOMES)
_BATCH, _ROWS = 1000, 5000
"""Files of repositories, and rows of the tables that come of units, after which they are handed on."""
_GLIMPSED, _GLIMPSED_BYTES = 200, 1 << 20
"""Files, and bytes of them, that are looked at together."""


class Job(Struct, frozen=True):
    """What a step is given: the linter, pickled, what a unit may take, the bytes that a file may have, and what stands
    for all but the files that findings depend on."""

    linter: bytes
    limits: Limits
    largest: int
    rules: str

    @property
    def process(self) -> ChildProcess:
        """The process of this worker: it outlives a task, for Spark gives a worker many."""
        global _child
        # What is made here are many values and no cycles. Reset by nobody, for the worker does nothing else.
        gc.set_threshold(100_000)
        if _child is None or (_child.linter, _child.limits) != (self.linter, self.limits):
            if _child is not None:
                _child.close()
            _child = ChildProcess(self.linter, self.limits)
        return _child


_child: ChildProcess | None = None


# Which units there are.


def survey(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """The units of repositories that lie in folders."""
    yield from _in_batches(_listed(batches), job)


def group(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """The units of repositories that are rows of a table, given with those of a repository next to each other."""
    yield from _in_batches(_scanned(batches), job)


def _listed(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[Seen]]]:
    for batch in batches:
        for repository, files in zip(
            batch.column("repository").to_pylist(), _nested(batch.column("members"), _LISTED), strict=True
        ):
            yield repository, [Seen(*file) for file in files]


_LISTED = tuple(field.name for field in LISTING[-1].type.value_type)
_MEMBER = tuple(column.name for column in MEMBER)


def _scanned(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[Seen]]]:
    rows = (row for batch in batches for row in batch.to_pylist())
    for repository, files in groupby(rows, itemgetter("repository")):
        yield (
            repository,
            [
                Seen(
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
            ],
        )


def _in_batches(repositories: Iterable[tuple[str, list[Seen]]], job: Job) -> Iterator[pa.RecordBatch]:
    rows: list[Sequence[Any]] = []
    files = 0
    for repository, seen in repositories:
        rows += [(repository, *found) for found in _units(seen, job)]
        files += len(seen)
        if files >= _BATCH:
            yield _found(rows)
            rows, files = [], 0
    if rows:
        yield _found(rows)


def _units(files: list[Seen], job: Job) -> list[list[Any]]:
    """The units of a repository, as ``Found`` is encoded. A file that the search dies of, or takes too long for, has
    that as its fate; where all of them together are too much, every file has."""
    wanted = Survey(tuple(files), job.largest, job.rules)
    reply = job.process.ask(wanted)
    if reply["failure"] is not None:
        for file in files:
            if file.location is not None and file.problem is None:
                alone = job.process.ask(Look((Glimpsed(file.label or "", file.location, None),), job.largest))
                _doom(file, alone["failure"])
        if any(file.fate is not None for file in files):
            reply = job.process.ask(wanted)
    if reply["failure"] is not None:
        for file in files:
            if file.fate is None:
                _doom(file, reply["failure"])
        return [msgspec.to_builtins(each) for each in given_up(wanted)]
    found: list[list[Any]] = reply["found"]
    return found


def _doom(file: Seen, failure: Row | None) -> None:
    if failure is not None:
        file.fate, file.detail, file.trace = failure["reason"], failure["detail"], failure["trace"]


def _found(rows: list[Sequence[Any]]) -> pa.RecordBatch:
    """Units as a batch."""
    *columns, members = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _FOUND, strict=False)]
    return pa.RecordBatch.from_arrays([*arrays, _lists(members, _FOUND.field("members").type)], schema=_FOUND)


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
        for files in _together(_rows(batch)):
            rows += _described(files, job)
        yield pa.RecordBatch.from_pylist(rows, schema=_FACTS)


def _together(rows: Iterable[Row]) -> Iterator[list[Row]]:
    taken: list[Row] = []
    size = 0
    for row in rows:
        taken.append(row)
        size += len(row["content"])
        if size >= _GLIMPSED_BYTES or len(taken) >= _GLIMPSED:
            yield taken
            taken, size = [], 0
    if taken:
        yield taken


def _described(files: list[Row], job: Job) -> Iterator[Row]:
    asked = Look(tuple(Glimpsed(row["path"], None, row["content"]) for row in files), job.largest)
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
    """What came of units whose files lie in folders."""
    yield from _outcomes(_units_of(batches), job.process)


def lint_contents(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """What came of units whose files come with their contents, a row a file, with those of a unit in order and next to
    each other."""
    rows = (row for batch in batches for row in _rows(batch))
    yield from _outcomes(_units_with_contents(rows), job.process)


_Asked = tuple[str, Request]
"""A repository, and a unit of it."""


def _units_of(batches: Iterable[pa.RecordBatch]) -> Iterator[_Asked]:
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("repository", "unit", "habit"))
        for repository, unit, habit, members in zip(*columns, _nested(batch.column("members"), _MEMBER), strict=True):
            files = tuple(
                RequestFile(path, location, None, problem, view)
                for path, location, view, problem, fate, *_ in members
                if fate in LINTED_ALL_THE_SAME
            )
            yield repository, Request(files, unit, habit)


def _units_with_contents(rows: Iterable[Row]) -> Iterator[_Asked]:
    for (repository, unit, habit), files in groupby(rows, itemgetter("repository", "unit", "habit")):
        # Rows that are wholly alike were joined to the one that counts.
        chosen = (next(same) for _, same in groupby(files, itemgetter("ordinal")))
        given = tuple(RequestFile(row["path"], None, row["content"], row["problem"], row["view"]) for row in chosen)
        yield repository, Request(given, unit, habit)


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows, with one content at a time: a batch of contents is large enough once."""
    contents = batch.column("content")
    for at, row in enumerate(batch.drop_columns(["content"]).to_pylist()):
        row["content"] = contents[at].as_py()
        yield row


def _outcomes(units: Iterable[_Asked], process: ChildProcess) -> Iterator[pa.RecordBatch]:
    outcomes: list[Row] = []
    rows = 0
    for repository, request in units:
        outcomes.append(_outcome(repository, request, process.ask(request)))
        rows += 1 + len(outcomes[-1]["findings"]) + len(outcomes[-1]["published"])
        if rows >= _ROWS:
            yield _of_outcomes(outcomes)
            outcomes, rows = [], 0
    if outcomes:
        yield _of_outcomes(outcomes)


def _of_outcomes(outcomes: list[Row]) -> pa.RecordBatch:
    published = _lists([row.pop("published") for row in outcomes], _OUTCOMES.field("published").type)
    batch = pa.RecordBatch.from_pylist(outcomes, schema=_OUTCOMES)
    return batch.set_column(_OUTCOMES.get_field_index("published"), "published", published)


def _outcome(repository: str, request: Request, reply: Row) -> Row:
    failure, unread = reply["failure"], reply["unread"]
    for finding, fingerprint in zip(reply["findings"], fingerprints(reply["findings"], repository), strict=True):
        finding["fingerprint"] = fingerprint
    failure = failure or _judged(reply, len(request.files))
    quarantine = list(unread)
    if failure is not None:
        quarantine.append(failure)
        told = {each["path"] for each in unread}
        quarantine += [
            {"path": file.label, "reason": failure["reason"], "detail": "its unit is quarantined"}
            for file in request.files
            if file.label not in told
        ]
    return {
        "repository": repository,
        "unit": request.name,
        "findings": reply["findings"],
        "published": reply["published"],
        "quarantine": quarantine,
        "unread": len(unread),
        "postgres": reply["postgres"],
        "statements": reply["statements"],
        "seconds": reply["seconds"],
        "reason": failure["reason"] if failure is not None else None,
    }


def _judged(reply: Row, files: int) -> Row | None:
    """Why a unit that was linted is quarantined all the same, if it is."""
    if len(reply["unread"]) == files:
        first = reply["unread"][0]
        detail = f"none of its files could be linted; of the first: {first['detail']}"
        return {"reason": first["reason"], "detail": detail}
    refused = {
        (each["path"], each["statement"]["index"])
        for each in reply["findings"]
        if each["name"] in ("statement-not-parsed", "text-skipped")
    }
    if 2 * len(refused) > reply["statements"]:
        detail = f"{len(refused)} of {reply['statements']} statements are not PostgreSQL"
        return {"reason": "not-postgresql", "detail": detail}
    return None
