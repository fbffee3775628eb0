"""What verifying a stream costs, against decoding it."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from pubcheck.stream import AnyMessage, Begin, Column, Commit, Decoder, Delete, Insert, Relation, Update, encode
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Publisher, Verifier, publisher_of, verify
from tests.benchmarks.row import Row
from tests.messages.in_python import decoder_in_python

TABLE = "CREATE TABLE t (a int PRIMARY KEY, b text, c text, d text, e text, f text);"
RELATION = Relation(1, "public", "t", "d", (Column("a", 23, key=True), *(Column(name, 25) for name in "bcdef")))
ROUNDS = 5
VALUES: Mapping[str, tuple[int, Callable[[int], str]]] = {
    "int": (23, str),
    "text": (25, lambda row: f"value {row}"),
    "numeric": (1700, lambda row: f"{row}.50"),
    "float4": (700, lambda row: f"{row}.5"),
    "uuid": (2950, lambda row: f"0189cafe-0000-4000-8000-{row:012x}"),
    "timestamptz": (1184, lambda row: f"2024-02-29 12:{row % 60:02}:00.123456+00"),
    "interval": (1186, lambda row: f"{row} days 04:05:06"),
    "inet": (869, lambda row: f"10.0.{row % 256}.1"),
    "point": (600, lambda row: f"({row},2.5)"),
    "tsvector": (3614, lambda row: f"'word{row}':1 'other':2,3A"),
    "json": (114, lambda row: f'{{"a": {row}, "b": ["x", null, true]}}'),
    "jsonb": (3802, lambda row: f'{{"a": {row}, "b": ["x", null, true]}}'),
    "int[]": (1007, lambda row: f"{{{row},2,NULL}}"),
    "text[]": (1009, lambda row: f'{{a{row},"b c",NULL}}'),
    "int[][]": (1007, lambda row: f"{{{{{row},2}},{{3,4}}}}"),
    "jsonb[]": (3807, lambda row: f'{{"{{\\"a\\": {row}}}"}}'),
    "jsonpath": (4072, lambda row: f'$."a"."b"[*]?(@."c" > {row})'),
    "xml": (142, lambda row: f'<a id="{row}"><b>text</b><c/></a>'),
}
"""Types, with their OIDs and a value for each row."""
TYPED = ("int", "numeric", "timestamptz", "uuid", "text", "jsonb")


def small_transactions(number: int) -> Iterator[Frame]:
    """Yield transactions of two changes of a table that was described before."""
    for change in range(number):
        lsn, xid = 0x1000 + change * 0x100, 700 + change
        row = (str(change), "hello world", "value two", "third", "fourth", None)
        messages: list[AnyMessage] = [Begin(lsn + 0x80, 5, xid), Insert(1, row), Update(1, row)]
        for message in (*messages[:1], RELATION, *messages[1:]) if change == 0 else messages:
            yield Frame(lsn, xid, encode(message), Place(1, line=1))
        yield Frame(lsn + 0xB0, xid, encode(Commit(lsn + 0x80, lsn + 0xB0, 5)), Place(1, line=1))


def alternating_tables(number: int, tables: int) -> Iterator[Frame]:
    """Yield transactions of 20 changes, each of another table than the one before."""
    columns = (Column("a", 23, key=True), Column("b", 25), Column("c", 1700))
    described: list[AnyMessage] = [Relation(oid, "public", f"t{oid}", "d", columns) for oid in range(tables)]
    for transaction in range(number):
        lsn, xid = 0x1000 + transaction * 0x1000, 700 + transaction
        rows = [(oid % tables, (str(transaction * 20 + oid), "hello world", f"{oid}.50")) for oid in range(20)]
        changes = [(Insert, Update)[place // tables % 2](oid, row) for place, (oid, row) in enumerate(rows)]
        messages: list[AnyMessage] = [Begin(lsn + 0x800, 5, xid)]
        for change in changes:
            # A description comes with the first change of its relation.
            messages += [*([described[change.relation]] if transaction == 0 else []), change]
        for message in dict.fromkeys(messages):
            yield Frame(lsn, xid, encode(message), Place(1, line=1))
        yield Frame(lsn + 0x830, xid, encode(Commit(lsn + 0x800, lsn + 0x830, 5)), Place(1, line=1))


def kinds_in_turns(number: int) -> Iterator[Frame]:
    """Yield transactions of 20 changes of a table, of all kinds, one of them a change of the key."""
    for transaction in range(number):
        lsn, xid = 0x1000 + transaction * 0x1000, 700 + transaction
        messages: list[AnyMessage] = [Begin(lsn + 0x800, 5, xid), *([RELATION] if transaction == 0 else [])]
        for place in range(20):
            row = (str(transaction * 20 + place), f"hello {place}", "value two", "third", "fourth", None)
            key = (row[0], None, None, None, None, None)
            messages.append((Insert(1, row), Update(1, row), Update(1, row), Delete(1, key, "K"))[place % 4])
        messages.append(Update(1, ("-1", *row[1:]), key, "K"))
        for message in messages:
            yield Frame(lsn, xid, encode(message), Place(1, line=1))
        yield Frame(lsn + 0x830, xid, encode(Commit(lsn + 0x800, lsn + 0x830, 5)), Place(1, line=1))


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


def typed_frames(types: Sequence[str], changes: int) -> Iterator[Frame]:
    """Yield a transaction of rows that have a value of each of these types."""
    columns = tuple(Column(f"c{number}", VALUES[name][0]) for number, name in enumerate(types))
    values = [VALUES[name][1] for name in types]
    rows = [Insert(1, tuple(value(row) for value in values)) for row in range(changes)]
    messages: list[AnyMessage] = [Begin(0x1000, 5, 700), Relation(1, "public", "t", "d", columns), *rows]
    for message in messages:
        yield Frame(0x800, 700, encode(message), Place(1, line=1))
    yield Frame(0x1030, 700, encode(Commit(0x1000, 0x1030, 5)), Place(1, line=1))


def full_identity(number: int) -> Iterator[Frame]:
    """Yield transactions of 20 changes of a table of the types `TYPED` with identity FULL, updates and deletes."""
    columns = tuple(Column(f"c{number}", VALUES[name][0], key=True) for number, name in enumerate(TYPED))
    values = [VALUES[name][1] for name in TYPED]
    for transaction in range(number):
        lsn, xid = 0x1000 + transaction * 0x1000, 700 + transaction
        messages: list[AnyMessage] = [Begin(lsn + 0x800, 5, xid)]
        messages += [Relation(1, "public", "t", "f", columns)] if transaction == 0 else []
        for row in range(transaction * 20, transaction * 20 + 20):
            old, new = (tuple(value(place) for value in values) for place in (row, row + 1))
            messages.append(Delete(1, old, "O") if row % 4 == 0 else Update(1, new, old, "O"))
        for message in messages:
            yield Frame(lsn, xid, encode(message), Place(1, line=1))
        yield Frame(lsn + 0x830, xid, encode(Commit(lsn + 0x800, lsn + 0x830, 5)), Place(1, line=1))


def _row(name: str, publisher: Publisher, stream: Sequence[Frame]) -> Row:
    """Return what verifying a stream takes."""
    runs = (_decode_in_python, _decode, partial(_verify, publisher), partial(_verify_one_by_one, publisher))
    in_python, decoding, cost, single = (
        seconds / len(stream) * 1e6 for seconds in _least(*(partial(run, stream) for run in runs))
    )
    without_c = f"decoding in Python {in_python:.2f} µs"
    measured = f"{cost:.2f} µs, one by one {single:.2f} µs, decoding {decoding:.2f} µs, {without_c}"
    return Row(f"verify, {name}", measured, cost / decoding, 3)


def _typed(types: Sequence[str]) -> Row:
    """Return what verifying rows of these types takes."""
    columns = ", ".join(f"c{number} {name}" for number, name in enumerate(types))
    schema = f"CREATE TABLE t ({columns}); CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert');"
    name = f"one column of {types[0]}" if len(types) == 1 else ", ".join(types)
    return _row(name, publisher_of(schema, ["p"]), list(typed_frames(types, 10_000)))


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
    if list(verify(publisher, stream, locale="C")):
        raise RuntimeError("a stream that conforms has a finding")


def _verify_one_by_one(publisher: Publisher, stream: Sequence[Frame]) -> None:
    verifier = Verifier(publisher, locale="C")
    for frame in stream:
        if verifier.check(frame):
            raise RuntimeError("a stream that conforms has a finding")


def _decode(stream: Sequence[Frame], decoder: Decoder | None = None) -> None:
    decode = (decoder or Decoder()).decode
    for frame in stream:
        decode(frame.data)


def _decode_in_python(stream: Sequence[Frame]) -> None:
    _decode(stream, decoder_in_python())


def _peak(publisher: Publisher, changes: int) -> int:
    tracemalloc.start()
    _verify(publisher, frames(changes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def verifying() -> Iterator[Row]:
    """Messages verified, against decoding them as installed; memory, for ten times the messages.

    With the module in C, both take a fraction of the time. The first messages of a stream are checked without it."""
    stream = list(frames(50_000))
    filters = (
        ("no row filter", ""),
        ("a filter with new values in each row", " WHERE (a >= 0)"),
        ("a filter", " WHERE (b > 'a')"),
    )
    for name, clause in filters:
        options = " WITH (publish = 'insert')" if clause else ""
        publisher = publisher_of(f"{TABLE} CREATE PUBLICATION p FOR TABLE t{clause}{options}", ["p"])
        yield _row(name, publisher, stream)
    for name in VALUES:
        yield _typed([name])
        yield _typed(["int", name])
    yield _typed(TYPED)
    publisher = publisher_of(f"{TABLE} CREATE PUBLICATION p FOR TABLE t", ["p"])
    yield _row("small transactions", publisher, list(small_transactions(5_000)))
    yield _row("kinds in turns", publisher, list(kinds_in_turns(500)))
    columns = ", ".join(f"c{number} {name}" for number, name in enumerate(TYPED))
    full = f"CREATE TABLE t ({columns}); ALTER TABLE t REPLICA IDENTITY FULL; CREATE PUBLICATION p FOR TABLE t;"
    yield _row("identity FULL", publisher_of(full, ["p"]), list(full_identity(300)))
    for tables in (2, 10):
        schema = "".join(f"CREATE TABLE t{number} (a int PRIMARY KEY, b text, c numeric);" for number in range(tables))
        of_all = publisher_of(f"{schema} CREATE PUBLICATION p FOR ALL TABLES", ["p"])
        yield _row(f"{tables} tables in turns", of_all, list(alternating_tables(500, tables)))
    _peak(publisher, 10_000)
    small, large = _peak(publisher, 10_000), _peak(publisher, 100_000)
    yield Row("memory for ten times the messages", f"{small:,} to {large:,} bytes", large / small, 1.2)
