"""What verifying a stream costs, against decoding it."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from pubcheck.stream import AnyMessage, Begin, Column, Commit, Decoder, Insert, Relation, encode
from pubcheck.stream.framing.frame import Frame, Place
from pubcheck.verify import Publisher, Verifier, publisher_of
from tests.benchmarks.row import Row

TABLE = "CREATE TABLE t (a int PRIMARY KEY, b text, c text, d text, e text, f text);"
RELATION = Relation(1, "public", "t", "d", (Column("a", 23, key=True), *(Column(name, 25) for name in "bcdef")))
ROUNDS = 5


def frames(changes: int) -> Iterator[Frame]:
    """Yield transactions of 1,000 rows each, of six columns."""
    for first in range(0, changes, 1000):
        lsn, xid = 0x1000 + first * 0x100, 700 + first // 1000
        rows = [
            Insert(1, (str(first + row), "hello world", "value two", "third", "fourth", None)) for row in range(1000)
        ]
        messages: list[AnyMessage] = [Begin(lsn + 0x8000, 5, xid), RELATION, *rows]
        for message in messages:
            yield Frame(lsn, xid, encode(message), Place(1, line=1))
        yield Frame(lsn + 0x8030, xid, encode(Commit(lsn + 0x8000, lsn + 0x8030, 5)), Place(1, line=1))


def _least(*runs: Callable[[], None]) -> list[float]:
    """Return the least time of each run. They take turns, because a machine is slower at some times than at others."""
    rounds = []
    for _ in range(ROUNDS):
        times = [time.process_time()]
        for run in runs:
            run()
            times.append(time.process_time())
        rounds.append([end - start for start, end in pairwise(times)])
    return [min(times) for times in zip(*rounds, strict=True)]


def _verify(publisher: Publisher, stream: Sequence[Frame] | Iterator[Frame]) -> None:
    verifier = Verifier(publisher, locale="C")
    for frame in stream:
        if verifier.check(frame):
            raise RuntimeError("a stream that conforms has a finding")


def _decode(stream: Sequence[Frame]) -> None:
    decode = Decoder().decode
    for frame in stream:
        decode(frame.data)


def _peak(publisher: Publisher, changes: int) -> int:
    tracemalloc.start()
    _verify(publisher, frames(changes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def verifying() -> Iterator[Row]:
    """Inserts of six columns, verified and decoded; memory, for ten times the messages."""
    stream = list(frames(50_000))
    filters = (
        ("no row filter", "", 3),
        ("a filter with new values in each row", " WHERE (a >= 0)", 3),
        ("a filter", " WHERE (b > 'a')", 3),
    )
    for name, clause, limit in filters:
        options = " WITH (publish = 'insert')" if clause else ""
        publisher = publisher_of(f"{TABLE} CREATE PUBLICATION p FOR TABLE t{clause}{options}", ["p"])
        decoding, cost = _least(partial(_decode, stream), partial(_verify, publisher, stream))
        measured = f"{len(stream) / cost / 1000:,.0f} k messages/s, decoding {len(stream) / decoding / 1000:,.0f} k"
        yield Row(f"verify, {name}", measured, cost / decoding, limit)
    publisher = publisher_of(f"{TABLE} CREATE PUBLICATION p FOR TABLE t", ["p"])
    _peak(publisher, 10_000)
    small, large = _peak(publisher, 10_000), _peak(publisher, 100_000)
    yield Row("memory for ten times the messages", f"{small:,} to {large:,} bytes", large / small, 1.2)
