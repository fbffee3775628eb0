"""Damaged messages: every one is decoded, or refused as Malformed.

`python -m tests.messages.mutate NUMBER [FILE...]` damages recorded messages and prints the result.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pubcheck.stream import AnyMessage, Decoder, Malformed, StreamAbort, encode, fields
from tests.support.recorded_streams import FOLDER, messages

KINDS = b"BMCORYIUDTSEcAbPKrp"


TOKENS = (b"t\0\0", b"\0", b"\xdb", b"\xc0", b"N\0", b"t\0\0\0\x74", b"n", b"u", b"a" * 116)


def damaged(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """Return a message with one to three of its bytes changed, lost, doubled or mixed with another message."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        position = chance.randrange(len(data) + 1)
        match chance.randrange(10):
            case 0:  # cut short
                data = data[:position]
            case 1:  # lengthened
                data += chance.randbytes(chance.randrange(1, 9))
            case 2:  # another kind
                data = bytes([chance.choice(KINDS)]) + data[1:]
            case 3:  # a byte changed
                data = data[:position] + chance.randbytes(1) + data[position + 1 :]
            case 4:  # a bit flipped
                if position < len(data):
                    data = data[:position] + bytes([data[position] ^ 1 << chance.randrange(8)]) + data[position + 1 :]
            case 5:  # bytes lost
                data = data[:position] + data[position + chance.randrange(1, 5) :]
            case 6:  # bytes doubled
                data = data[:position] + data[max(0, position - chance.randrange(1, 9)) :]
            case 7:  # a length or a number of the largest kind
                data = data[:position] + b"\xff" * chance.choice((2, 4)) + data[position + 4 :]
            case 8:  # what the decoder looks for
                data = data[:position] + b"".join(chance.choices(TOKENS, k=chance.randrange(1, 4))) + data[position:]
            case 9:  # the rest of another message
                data = data[:position] + other[chance.randrange(len(other)) :]
    return data


def check(decoder: Decoder, data: bytes) -> str:
    """Return the name of the message's class, or ``Malformed``. Raises AssertionError if decoder, encoder and field
    reader disagree."""
    message = decoded(decoder, data)
    if not isinstance(message, StreamAbort):
        assert first(decoder, data) == (None if isinstance(message, Malformed) else message), data.hex()
    if isinstance(message, Malformed):
        assert 0 <= message.offset <= len(data), data.hex()
        assert "after the message" not in message.expected, f"the field reader accepts {data.hex()}"
        return "Malformed"
    assert encode(message) == data, data.hex()
    assert list(fields(data, in_block=decoder.in_block and getattr(message, "xid", None) is not None))
    return type(message).__name__


def decoded(decoder: Decoder, data: bytes) -> AnyMessage | Malformed:
    """Return the message, or why it is not one."""
    try:
        return decoder.decode(data)
    except Malformed as fault:
        return fault


def first(decoder: Decoder, data: bytes) -> AnyMessage | None:
    """Return the message by the other functions that read it, which do not know where it ends; None if it ends
    elsewhere."""
    try:
        message, end = decoder.decode_first(data)
    except Malformed:
        return None
    return message if end == len(data) else None


def run(number: int, recorded: Sequence[bytes], seed: int = 0) -> Counter[str]:
    """Return how many damaged messages were decoded as which kind."""
    chance = random.Random(seed)
    decoders = [Decoder(), Decoder("on"), Decoder("parallel")]
    counts: Counter[str] = Counter()
    for _ in range(number):
        data = damaged(chance.choice(recorded), chance, chance.choice(recorded))
        counts[check(chance.choice(decoders), data)] += 1
    return counts


if __name__ == "__main__":
    paths = [Path(name) for name in sys.argv[2:]] or sorted(FOLDER.glob("*pgoutput*.gz"))
    recorded = [data for path in paths for capture in messages(path) for data in capture]
    for kind, total in run(int(sys.argv[1]), recorded).most_common():
        print(f"{total:9,} {kind}")
