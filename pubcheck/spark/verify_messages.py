"""`pubcheck verify` as a Spark job.

The messages of a slot are checked in their order, by one task, which reads them as a stream: whatever the length of a
transaction, the task holds one batch of it. The slots are checked side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from msgspec import Struct
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.rulebook import RULES
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.stream.lsn import format_lsn, lsn_or_none
from pubcheck.verify import Options, Publisher, State, StreamFinding, Verifier
from pubcheck.verify.report import headline

STREAM_FINDINGS = pa.schema(
    [
        ("slot", pa.string()),
        ("number", pa.int64()),
        ("rule", pa.string()),
        ("severity", pa.string()),
        ("certainty", pa.string()),
        ("assumption", pa.string()),
        ("message", pa.string()),
        ("problem", pa.string()),
        ("help", pa.string()),
        ("kind", pa.string()),
        ("lsn", pa.string()),
        ("xid", pa.int64()),
        ("offset", pa.int64()),
        ("object", pa.string()),
        ("operation", pa.string()),
        ("publications", pa.list_(pa.string())),
    ]
)
"""A finding about the message ``number`` of a slot, counted from 1. ``problem`` is the part of ``message`` that the
other columns do not say."""


class Job(Struct, frozen=True):
    """What a task knows of the publisher: its schema, and how the stream was requested."""

    schema: Unit
    config: Config
    publications: tuple[str, ...]
    options: Options
    locale: str | None = None


def verify_messages(messages: DataFrame, job: Job) -> DataFrame:
    """Return the findings (`STREAM_FINDINGS`) about the messages of `read_messages`."""
    in_order = messages.repartition("slot").sortWithinPartitions("slot", "ordinal")
    return in_order.mapInArrow(partial(_verify, job=job), from_arrow_schema(STREAM_FINDINGS))


@lru_cache(maxsize=1)
def _publisher(job: Job) -> Publisher:
    followed = Linter(job.config).follow(job.schema)
    return Publisher([State(followed.replays[-1].session, job.publications)])


def _verify(batches: Iterator[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    slot: str | None = None
    verifier: Verifier | None = None
    for batch in batches:
        rows: list[dict[str, object]] = []
        for of_slot, lsn, xid, data in zip(*(batch[name].to_pylist() for name in _READ), strict=True):
            if verifier is None or of_slot != slot:
                if verifier is not None:
                    rows += _rows(slot, verifier.end())
                slot, verifier = of_slot, Verifier(_publisher(job), job.options, job.locale)
            rows += _rows(slot, verifier.check(Frame(lsn_or_none(lsn), xid, data or b"", _NO_PLACE)))
        if rows:
            yield pa.RecordBatch.from_pylist(rows, STREAM_FINDINGS)
    if verifier is not None:
        yield pa.RecordBatch.from_pylist(_rows(slot, verifier.end()), STREAM_FINDINGS)


_NO_PLACE = Place(0)
"""The verifier numbers the messages itself."""
_READ = ("slot", "lsn", "xid", "data")


def _rows(slot: str | None, findings: Iterable[StreamFinding]) -> Sequence[dict[str, object]]:
    return [
        {
            "slot": slot,
            "number": finding.number,
            "rule": finding.rule,
            "severity": finding.severity or RULES[finding.rule].severity,
            "certainty": "certain" if finding.assumption is None else "assumed",
            "assumption": finding.assumption,
            "message": headline(finding),
            "problem": finding.message,
            "help": finding.help,
            "kind": finding.kind,
            "lsn": None if finding.lsn is None else format_lsn(finding.lsn),
            "xid": finding.xid,
            "offset": finding.offset,
            "object": finding.object,
            "operation": finding.operation,
            "publications": list(finding.publications),
        }
        for finding in findings
    ]


def finding_of(row: Mapping[str, Any]) -> StreamFinding:
    """Return the finding that a row of `STREAM_FINDINGS` holds."""
    return StreamFinding(
        rule=row["rule"],
        message=row["problem"],
        number=row["number"],
        kind=row["kind"],
        lsn=lsn_or_none(row["lsn"]),
        xid=row["xid"],
        offset=row["offset"],
        severity=row["severity"],
        assumption=row["assumption"],
        object=row["object"],
        operation=row["operation"],
        publications=tuple(row["publications"]),
        help=row["help"],
    )
