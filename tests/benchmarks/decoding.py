"""What decoding costs: `python tests/benchmarks/decoding.py PART FILE` decodes the messages of a file of hex lines
(Begin, Relation, Insert, Update, Delete, Truncate and Commit, outside streamed blocks) and prints the CPU time that one
message takes in microseconds, the least of several rounds.

PART is ``pubcheck``, ``bare`` (a loop over `struct` that only cuts the messages into their fields), or the path of
pypgoutput's decoders.py.
"""

from __future__ import annotations

import importlib.util
import struct
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUNDS = 7


def pubcheck_decoder() -> Callable[[bytes], object]:
    """Return pubcheck's decoder, as a program calls it."""
    from pubcheck.stream import Decoder

    return Decoder().decode


def pypgoutput_decoder(path: str) -> Callable[[bytes], object]:
    """Return the decoder of pypgoutput, without its dependencies."""
    spec = importlib.util.spec_from_file_location("decoders", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["decoders"] = module
    spec.loader.exec_module(module)
    kinds = (module.Begin, module.Commit, module.Relation, module.Insert, module.Update, module.Delete, module.Truncate)
    by_letter = dict(zip(b"BCRIUDT", kinds, strict=True))
    return lambda data: by_letter[data[0]](data)


def bare_decoder() -> Callable[[bytes], object]:
    """Return a function that finds where the fields of a message begin and end, and cuts the values."""
    number, count = struct.Struct(">I").unpack_from, struct.Struct(">H").unpack_from
    begin, commit, truncate = (struct.Struct(layout).unpack_from for layout in (">QqI", ">BQQq", ">IB"))
    column = struct.Struct(">Ii").unpack_from

    def cut_row(data: bytes, at: int, fields: list[object]) -> int:
        (columns,) = count(data, at)
        at += 2
        for _ in range(columns):
            kind = data[at]
            if kind in b"nu":
                fields.append(None)
                at += 1
            else:
                end = at + 5 + number(data, at + 1)[0]
                fields.append(data[at + 5 : end])
                at = end
        return at

    def cut(data: bytes) -> list[object]:
        kind = data[0]
        fields: list[object] = [kind]
        if kind in b"IUD":
            fields.append(number(data, 1)[0])
            at = 5
            while at < len(data):
                fields.append(data[at])
                at = cut_row(data, at + 1, fields)
        elif kind in b"BCT":
            layout = begin if kind == 66 else commit if kind == 67 else truncate
            fields += layout(data, 1)
        elif kind in b"R":
            fields.append(number(data, 1)[0])
            at = 5
            for _ in range(2):
                end = data.index(0, at)
                fields.append(data[at:end])
                at = end + 1
            fields.append(data[at])
            (columns,) = count(data, at + 1)
            at += 3
            for _ in range(columns):
                end = data.index(0, at + 1)
                fields += (data[at], data[at + 1 : end], *column(data, end + 1))
                at = end + 9
        return fields

    return cut


def least(decode: Callable[[bytes], object], messages: Sequence[bytes]) -> float:
    """Return the CPU time of one message in microseconds."""
    rounds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for message in messages:
            decode(message)
        rounds.append(time.process_time() - start)
    return min(rounds) / len(messages) * 1e6


if __name__ == "__main__":
    part, file = sys.argv[1:]
    lines = [bytes.fromhex(line) for line in Path(file).read_text().splitlines()]
    chosen = {"pubcheck": pubcheck_decoder, "bare": bare_decoder}.get(part)
    print(least(chosen() if chosen else pypgoutput_decoder(part), lines))
