"""What decoding a message costs, in microseconds of CPU time: pubcheck with its readers in C and without them, a loop
over `struct` that only cuts out the fields, and pypgoutput 0.0.3 where it is installed (PUBCHECK_PYPGOUTPUT names its
decoders.py if it is elsewhere)."""

from __future__ import annotations

import importlib.util
import os
import struct
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from pubcheck.stream import Begin, Commit, Decoder, Delete, Insert, Relation, Update, encode
from pubcheck.stream.batches import CAPTURED, decode_batch
from pubcheck.stream.decode import Timeline
from pubcheck.stream.messages import Column
from tests.messages.in_python import decoder_in_python
from tests.support.recorded_streams import FOLDER, recordings_in

ROUNDS = 9
STRETCH = 256
Decode = Callable[[bytes], object]


def decoding_inputs() -> Mapping[str, Sequence[bytes]]:
    """Return messages that pypgoutput can decode: it knows version 1 without Type, Origin and Message, and UTF-8."""
    texts = [
        Insert(
            16384, (str(number), f"customer {number}", "12.50", "2024-02-29 12:00:00", f"some text {number * 7}", "eu")
        )
        for number in range(5_000)
    ]
    integers = [Insert(16384, tuple(str(number + column) for column in range(20))) for number in range(2_000)]
    changes = [
        message
        for number in range(1_000)
        for message in (
            Begin(number, number, number),
            Insert(16384, (str(number), f"customer {number}", None, "eu")),
            Update(16384, (str(number), f"customer {number}", "x", "us")),
            Delete(16384, (str(number), None, None, None), "K"),
            Commit(number, number, number),
        )
    ]
    columns = tuple(Column(name, 25) for name in ("id", "name", "note", "region"))
    keys = [Delete(16384, (str(number), None, None), "K") for number in range(5_000)]
    return {
        **{f"inserts of {count} text{'s'[: count - 1]}": _inserts(count) for count in (1, 2, 3)},
        "inserts of 3 values, one NULL": [encode(Insert(16384, (str(number), None, "eu"))) for number in range(5_000)],
        "updates of 3 texts": [
            encode(Update(16384, (str(number), f"customer {number}", "eu"))) for number in range(5_000)
        ],
        "deletes by a key": [encode(message) for message in keys],
        "inserts of 6 texts": [encode(message) for message in texts],
        "inserts of 20 integers": [encode(message) for message in integers],
        "small transactions": [encode(message) for message in (Relation(16384, "public", "t", "d", columns), *changes)],
        "recorded messages": _recorded(),
    }


def _inserts(count: int) -> Sequence[bytes]:
    return [encode(Insert(16384, (str(number), f"customer {number}", "eu")[:count])) for number in range(5_000)]


def _recorded() -> Sequence[bytes]:
    messages: list[bytes] = []
    for recording in recordings_in(FOLDER / "pgoutput-18.jsonl.gz"):
        for capture in recording.captures:
            if capture.plugin == "pgoutput" and not {"streaming", "binary", "two_phase"} & capture.options.keys():
                data = [bytes.fromhex(content) for *_, content in capture.rows]
                messages += [content for content in data if content[:1] in b"BCRIUDT" and _is_utf8(content)]
    return messages[:30_000]


def _is_utf8(data: bytes) -> bool:
    message = Decoder().decode(data)
    values = [value for row in (getattr(message, "new", ()), getattr(message, "old", ())) for value in row or ()]
    return all(value.isprintable() for value in values if isinstance(value, str))


class Costs(NamedTuple):
    """The cost of a message by `decode`, by `decode_many`, by `decode` without the readers in C, in the bare loop, and
    by pypgoutput, if it is there."""

    ours: float
    many: float
    in_python: float
    bare: float
    theirs: float | None = None


def decoding_costs(messages: Sequence[bytes]) -> Costs:
    """Return the costs of some messages, measured in turns."""
    stretches = [messages[start : start + STRETCH] for start in range(0, len(messages), STRETCH)]
    theirs = pypgoutput_decoder()
    others = [decoder_in_python().decode, bare_decoder(), *([] if theirs is None else [theirs])]
    rounds = [
        (
            _costs(partial(_each, Decoder().decode), stretches),
            _costs(partial(_all, Decoder().decode_many), stretches),
            *(_costs(partial(_each, decode), stretches) for decode in others),
        )
        for _ in range(ROUNDS)
    ]
    # Every stretch counts where it took least, because a machine is slower at some times than at others.
    return Costs(*(sum(map(min, zip(*of_run, strict=True))) / len(messages) for of_run in zip(*rounds, strict=True)))


def _costs(run: Callable[[Any], None], stretches: Iterable[object]) -> list[float]:
    times = [time.process_time()]
    for stretch in stretches:
        run(stretch)
        times.append(time.process_time())
    return [(end - start) * 1e6 for start, end in pairwise(times)]


def _each(decode: Decode, messages: Sequence[bytes]) -> None:
    for message in messages:
        decode(message)


def _all(decode: Callable[[Sequence[bytes]], Iterable[object]], messages: Sequence[bytes]) -> None:
    for _ in decode(messages):
        pass


def batch_costs() -> tuple[float, float, float]:
    """Return the microseconds that an insert of six texts takes in a batch that becomes an Arrow table, one by one, and
    one by one without the readers in C."""
    columns = tuple(Column(name, 25) for name in ("id", "name", "total", "at", "note", "region"))
    timeline = Timeline([(0, encode(Relation(16384, "public", "t", "d", columns)))])
    messages = [*decoding_inputs()["inserts of 6 texts"]] * 2
    count = len(messages)
    values = (["s"] * count, range(1, count + 1), ["0/1"] * count, [7] * count, messages)
    arrays = [pa.array(column, field.type) for column, field in zip(values, CAPTURED, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=CAPTURED)
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        assert sum(rows.num_rows for rows in decode_batch(batch, {"s": timeline})) == count
        rounds.append(time.process_time() - start)
    return min(rounds) / count * 1e6, _cost(Decoder().decode, messages), _cost(decoder_in_python().decode, messages)


def _cost(decode: Decode, messages: Sequence[bytes]) -> float:
    start = time.process_time()
    for message in messages:
        decode(message)
    return (time.process_time() - start) / len(messages) * 1e6


def pypgoutput_decoder() -> Decode | None:
    """Return the decoder of pypgoutput without its dependencies, or None if it is not there."""
    path = os.environ.get("PUBCHECK_PYPGOUTPUT")
    if path is None:
        package = importlib.util.find_spec("pypgoutput")
        if package is None or package.origin is None:
            return None
        path = str(Path(package.origin).with_name("decoders.py"))
    spec = importlib.util.spec_from_file_location("pypgoutput_decoders", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["pypgoutput_decoders"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kinds = (module.Begin, module.Commit, module.Relation, module.Insert, module.Update, module.Delete, module.Truncate)
    by_letter = dict(zip(b"BCRIUDT", kinds, strict=True))
    return lambda data: by_letter[data[0]](data)


def bare_decoder() -> Decode:
    """Return a function that finds where the fields of a message begin and end, and cuts the values."""
    number, count = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from
    begin, commit, truncate = (struct.Struct(layout).unpack_from for layout in (">QqI", ">BQQq", ">IB"))
    column = struct.Struct(">Ii").unpack_from

    def cut_row(data: bytes, offset: int, fields: list[object]) -> int:
        (columns,) = count(data, offset)
        offset += 2
        for _ in range(columns):
            kind = data[offset]
            if kind in b"nu":
                fields.append(None)
                offset += 1
            else:
                end = offset + 5 + number(data, offset + 1)[0]
                fields.append(data[offset + 5 : end])
                offset = end
        return offset

    def cut(data: bytes) -> list[object]:
        kind = data[0]
        fields: list[object] = [kind]
        if kind in b"IUD":
            fields.append(number(data, 1)[0])
            offset = 5
            while offset < len(data):
                fields.append(data[offset])
                offset = cut_row(data, offset + 1, fields)
        elif kind in b"BCT":
            layout = begin if kind == 66 else commit if kind == 67 else truncate
            fields += layout(data, 1)
        elif kind in b"R":
            fields.append(number(data, 1)[0])
            offset = 5
            for _ in range(2):
                end = data.index(0, offset)
                fields.append(data[offset:end])
                offset = end + 1
            fields.append(data[offset])
            (columns,) = count(data, offset + 1)
            offset += 3
            for _ in range(columns):
                end = data.index(0, offset + 1)
                fields += (data[offset], data[offset + 1 : end], *column(data, end + 1))
                offset = end + 9
        return fields

    return cut
