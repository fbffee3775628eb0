"""What runs in Spark's Python workers: Arrow batches in, Arrow batches out. Knows the core, and nothing of Spark."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from pubcheck.report.fingerprints import fingerprints
from pubcheck.sources.plans import group_paths
from pubcheck.sources.selection import may_publish
from pubcheck.spark.child import Limits, Request, RequestFile
from pubcheck.spark.process import ChildProcess
from pubcheck.spark.tables import FILES, OUTCOMES, arrow

Row = dict[str, Any]

_FILES, _OUTCOMES = arrow(FILES), arrow(OUTCOMES)
_BATCH = 1000
"""Findings, and units, after which rows are handed on."""


def scan(batches: Iterable[pa.RecordBatch], *, largest: int) -> Iterator[pa.RecordBatch]:
    """The files of a listing with their size, digest, and whether they may publish; none over ``largest`` is read."""
    for batch in batches:
        yield pa.RecordBatch.from_pylist([_scanned(row, largest) for row in batch.to_pylist()], schema=_FILES)


def _scanned(row: Row, largest: int) -> Row:
    row.update(size=0, digest="", may_publish=True, fate=None)
    if row["problem"] is not None:
        return row | {"fate": "unreadable", "digest": row["problem"]}
    try:
        with open(os.fsdecode(row["location"]), "rb") as stream:
            row["size"] = os.fstat(stream.fileno()).st_size
            content = stream.read(largest + 1) if row["size"] <= largest else b""
    except (OSError, ValueError) as error:
        return row | {"fate": "unreadable", "digest": str(error)}
    size = max(row["size"], len(content))
    if size > largest:
        return row | {"size": size, "fate": "too-large", "digest": f"{size} bytes"}
    return row | {"size": size, "digest": hashlib.sha256(content).hexdigest(), "may_publish": may_publish(content)}


def group_table(given: pa.Table) -> pa.Table:
    """The files of one repository, given by path, with the unit and the place in it of those that belong to one.

    Of several rows of a path the first by digest counts, the others are duplicates.
    """
    rows = sorted(given.to_pylist(), key=lambda row: (row["path"] or "", row["digest"] or ""))
    units = group_paths(row["path"] for row in rows if row["path"] is not None)
    places = {
        path: (name, ordinal)
        for name, unit in zip(name_units(units), units, strict=True)
        for ordinal, path in enumerate(unit)
    }
    for _, same in groupby(rows, itemgetter("path")):
        for number, row in enumerate(same):
            row["unit"], row["ordinal"] = places.get(row["path"], (None, None))
            if number and row["unit"] is not None:
                row["fate"] = "duplicate"
    return pa.Table.from_pylist(rows, schema=_FILES)


def name_units(units: Iterable[tuple[str, ...]]) -> list[str]:
    """A name for each unit of a repository, given the labels of its files: their folder, else the first label."""
    taken: set[str] = set()
    names = []
    for labels in units:
        folder = labels[0].rpartition("/")[0] or "."
        name = labels[0] if folder in taken else folder
        taken.add(name)
        names.append(name)
    return names


_child: ChildProcess | None = None
"""The process of this worker: it outlives a task, for Spark gives a worker many."""


def _process(linter: bytes, limits: Limits) -> ChildProcess:
    global _child
    if _child is None or (_child.linter, _child.limits) != (linter, limits):
        if _child is not None:
            _child.close()
        _child = ChildProcess(linter, limits)
    return _child


def lint(batches: Iterable[pa.RecordBatch], *, linter: bytes, limits: Limits) -> Iterator[pa.RecordBatch]:
    """What came of units. The rows are files, with those of a unit in order and next to each other."""
    process = _process(linter, limits)
    rows = (row for batch in batches for row in _rows(batch))
    outcomes: list[Row] = []
    findings = 0
    for (repository, unit), files in groupby(rows, itemgetter("repository", "unit")):
        outcomes.append(_outcome(repository, unit, files, process))
        findings += len(outcomes[-1]["findings"])
        if findings >= _BATCH or len(outcomes) >= _BATCH:
            yield pa.RecordBatch.from_pylist(outcomes, schema=_OUTCOMES)
            outcomes, findings = [], 0
    if outcomes:
        yield pa.RecordBatch.from_pylist(outcomes, schema=_OUTCOMES)


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    """The rows one at a time: a batch of contents is large enough once."""
    columns = [batch.column(number) for number in range(batch.num_columns)]
    names = batch.schema.names
    for at in range(batch.num_rows):
        yield {name: column[at].as_py() for name, column in zip(names, columns, strict=True)}


def _outcome(repository: str, unit: str, files: Iterable[Row], process: ChildProcess) -> Row:
    request = []
    for _, same in groupby(files, itemgetter("ordinal")):
        row = next(same)  # rows that are wholly alike were joined to the one that counts
        request.append(RequestFile(row["path"], row["location"], row["content"], row["problem"]))
    reply: Row = process.lint(Request(tuple(request)))
    failure = reply.pop("failure") or {"reason": None, "detail": None, "trace": None}
    for finding, fingerprint in zip(reply["findings"], fingerprints(reply["findings"], repository), strict=True):
        finding["fingerprint"] = fingerprint
    if failure["reason"] is None:
        failure["reason"], failure["detail"] = _judged(reply, len(request))
    return {"repository": repository, "unit": unit, **reply, **failure}


def _judged(reply: Row, files: int) -> tuple[str | None, str | None]:
    """Why a unit that was linted is quarantined all the same, if it is."""
    if len(reply["unread"]) == files:
        return reply["unread"][0]["reason"], "none of its files could be read"
    refused = {
        (each["path"], each["statement"]["index"])
        for each in reply["findings"]
        if each["name"] in ("statement-not-parsed", "text-skipped")
    }
    if 2 * len(refused) > reply["statements"]:
        return "not-postgresql", f"{len(refused)} of {reply['statements']} statements are not PostgreSQL"
    return None, None
