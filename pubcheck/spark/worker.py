"""What runs in Spark's Python workers: Arrow batches in, Arrow batches out. Knows the core, and nothing of Spark."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
import pyarrow as pa

from pubcheck.report.fingerprints import fingerprints
from pubcheck.sources.discover import readable
from pubcheck.sources.files import SUFFIXES, File, view_of
from pubcheck.sources.names import Names, names
from pubcheck.sources.plans import Disk, arrange
from pubcheck.sources.traits import Traits, traits
from pubcheck.spark.child import Limits, Request, RequestFile
from pubcheck.spark.process import ChildProcess
from pubcheck.spark.tables import FACTS, FILES, OUTCOMES, SCANNED, arrow

Row = dict[str, Any]

_FILES, _SCANNED, _FACTS, _OUTCOMES = arrow(FILES), arrow(SCANNED), arrow(FACTS), arrow(OUTCOMES)
_encode = msgspec.msgpack.Encoder().encode
_decode_traits = msgspec.msgpack.Decoder(Traits).decode
_decode_names = msgspec.msgpack.Decoder(Names).decode
BEGINNING = 1 << 20
"""Bytes of a file that is too large to be linted in which is looked for what it has to do with others."""
_BATCH = 1000
"""Findings, and units, after which rows are handed on."""


def scan(batches: Iterable[pa.RecordBatch], *, largest: int) -> Iterator[pa.RecordBatch]:
    """The files of a listing with their size, digest, and whether they may publish. Of one over ``largest`` the
    beginning alone is read, which tells the files beside it whether they belong to it."""
    for batch in batches:
        yield pa.RecordBatch.from_pylist([_scanned(row, largest) for row in batch.to_pylist()], schema=_SCANNED)


def _scanned(row: Row, largest: int) -> Row:
    row.update(size=0, digest="", may_publish=True, fate=None, traits=None, names=None)
    if row["problem"] is not None:
        return row | {"fate": "unreadable", "digest": row["problem"]}
    try:
        with open(os.fsdecode(row["location"]), "rb") as stream:
            row["size"] = size = os.fstat(stream.fileno()).st_size
            content = stream.read(size + 1 if size <= largest else min(largest, BEGINNING))
            if len(content) > size <= largest:  # it grows, or is none of a disk
                content += stream.read(largest)
    except (OSError, ValueError) as error:
        return row | {"fate": "unreadable", "digest": str(error)}
    size = max(row["size"], len(content))
    if size > largest:
        content = content[: min(largest, BEGINNING)]
        facts, named = traits(row["path"], content), names(content)
        row |= {"size": size, "fate": "too-large", "digest": f"{size} bytes"}
        return row | {"traits": _encode(facts), "names": _encode(named)}
    facts = traits(row["path"], content)
    digest = hashlib.sha256(content).hexdigest()
    return row | {"size": size, "digest": digest, "may_publish": facts.may_matter, "traits": _encode(facts)}


def describe(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What of the contents of files decides where they belong."""
    for batch in batches:
        rows = []
        for row in _rows(batch):
            content = row.pop("content")
            facts = traits(row["path"], content)
            named = names(content) if row["path"].lower().endswith(SUFFIXES) or facts.may_publish else Names()
            rows.append(row | {"traits": _encode(facts), "names": _encode(named)})
        yield pa.RecordBatch.from_pylist(rows, schema=_FACTS)


class _Known:
    """What is known of a repository's files by the paths that habits know them by; the names in one that lies in a
    folder are found when they are asked for."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._disk = Disk()

    def traits(self, path: str) -> Traits:
        known = self.rows[path]["traits"]
        return Traits() if known is None else _decode_traits(known)

    def names(self, path: str, wanted: frozenset[str] | None = None) -> Names:
        row = self.rows[path]
        if row["names"] is not None:
            return _decode_names(row["names"])
        return Names() if row["location"] is None or row["fate"] is not None else self._disk.names(path, wanted)


def group(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The files of repositories, those of one next to each other, with the unit and the place in it of those that
    belong to one."""
    rows: list[Row] = []
    for _, files in groupby((row for batch in batches for row in batch.to_pylist()), itemgetter("repository")):
        rows += grouped(files)
        if len(rows) >= _BATCH:
            yield pa.RecordBatch.from_pylist(rows, schema=_FILES)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=_FILES)


def grouped(files: Iterable[Row]) -> list[Row]:
    """The files of one repository with their units. Of several rows of a path the first by digest counts, the others
    are duplicates. Files in folders are told apart by where they are: names that are no UTF-8 may have one label."""
    rows = sorted(files, key=lambda row: (row["path"] or "", row["location"] or b"", row["digest"] or ""))
    known = _Known()
    alone: list[Row] = []
    for row in rows:
        path = row["path"] if row["location"] is None else os.fsdecode(row["location"])
        if row["location"] is not None and row["problem"] is not None:
            alone.append(row)  # a folder that cannot be listed
        elif path is not None:
            known.rows.setdefault(path, row)
    if any(row["location"] is None for row in rows):
        met = frozenset(readable(known.rows))
        known.rows = {path: row for path, row in known.rows.items() if path in met}
    plans, _ = arrange([(path, File(path, row["path"], view=view_of(path))) for path, row in known.rows.items()], known)
    called: set[str] = set()

    def name(wanted: str) -> str:
        """The name, or one like it if it is another unit's already."""
        found, number = wanted, 1
        while found in called:
            number += 1
            found = f"{wanted} ({number})"
        called.add(found)
        return found

    places = {}
    for plan in plans:
        unit = name(plan.name)
        for ordinal, file in enumerate(plan.files):
            places[file.path] = (unit, plan.habit, ordinal, file.view)
    places |= {os.fsdecode(row["location"]): (name(row["path"]), "folder", 0, "sql") for row in alone}
    for _, same in groupby(rows, itemgetter("path", "location")):
        for number, row in enumerate(same):
            path = row["path"] if row["location"] is None else os.fsdecode(row["location"])
            place = places.get(path, (None, None, None, None)) if path is not None else (None, None, None, None)
            row["unit"], row["habit"], row["ordinal"], row["view"] = place
            if number and row["unit"] is not None:
                row["fate"] = "duplicate"
            del row["traits"], row["names"]
    return rows


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
    """The rows, with one content at a time: a batch of contents is large enough once."""
    contents = batch.column("content")
    for at, row in enumerate(batch.drop_columns(["content"]).to_pylist()):
        row["content"] = contents[at].as_py()
        yield row


def _outcome(repository: str, unit: str, files: Iterable[Row], process: ChildProcess) -> Row:
    request = []
    habit = ""
    for _, same in groupby(files, itemgetter("ordinal")):
        row = next(same)  # rows that are wholly alike were joined to the one that counts
        habit = row["habit"]
        request.append(RequestFile(row["path"], row["location"], row["content"], row["problem"], row["view"]))
    reply: Row = process.lint(Request(tuple(request), unit, habit))
    failure = reply.pop("failure") or {"reason": None, "detail": None, "trace": None}
    for finding, fingerprint in zip(reply["findings"], fingerprints(reply["findings"], repository), strict=True):
        finding["fingerprint"] = fingerprint
    if failure["reason"] is None:
        failure["reason"], failure["detail"] = _judged(reply, len(request))
    return {"repository": repository, "unit": unit, **reply, **failure}


def _judged(reply: Row, files: int) -> tuple[str | None, str | None]:
    """Why a unit that was linted is quarantined all the same, if it is."""
    if len(reply["unread"]) == files:
        first = reply["unread"][0]
        return first["reason"], f"none of its files could be linted; of the first: {first['detail']}"
    refused = {
        (each["path"], each["statement"]["index"])
        for each in reply["findings"]
        if each["name"] in ("statement-not-parsed", "text-skipped")
    }
    if 2 * len(refused) > reply["statements"]:
        return "not-postgresql", f"{len(refused)} of {reply['statements']} statements are not PostgreSQL"
    return None, None
