"""Decoders without the readers in C, next to those with them.

`python -m tests.messages.in_python NUMBER [SEED]` decodes damaged messages with both.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from pubcheck.stream import Decoder, Malformed, decode, whole
from tests.messages.mutate import damaged
from tests.support.recorded_streams import FOLDER, messages


@contextmanager
def in_python() -> Iterator[None]:
    """Decoders that are made meanwhile have no readers in C."""
    with patch.object(whole, "COMPILED", None):
        decode._state.cache_clear()
        yield
    decode._state.cache_clear()


def decoder_in_python() -> Decoder:
    """Return a decoder without the readers in C."""
    with in_python():
        return Decoder()


def outcome(decoder: Decoder, data: bytes | bytearray | memoryview[int]) -> str:
    """Return the message with the types of its values, or the exception; and whether the decoder is in a block then."""
    try:
        result = repr(decoder.decode(data))  # type: ignore[arg-type]
    except Malformed as fault:
        result = str(fault)
    except (TypeError, AttributeError) as error:
        result = type(error).__name__
    return f"{result} {decoder.in_block}"


def recorded(*paths: Path) -> Sequence[bytes]:
    """Return different messages of all kinds, as servers sent them."""
    return sorted({data for path in paths for capture in messages(path) for data in capture})


def compare(number: int, originals: Sequence[bytes], seed: int) -> Counter[str]:
    """Decode damaged messages with both kinds of decoder, and return how many had which outcome."""
    chance = random.Random(seed)
    ours, theirs = Decoder(), decoder_in_python()
    counts: Counter[str] = Counter()
    for _ in range(number):
        data = damaged(chance.choice(originals), chance, chance.choice(originals))
        result = outcome(ours, data)
        assert result == outcome(theirs, data), data.hex()
        counts["malformed" if result.startswith("byte ") else result.partition("(")[0]] += 1
    return counts


if __name__ == "__main__":
    originals = recorded(*sorted(FOLDER.glob("*pgoutput*.gz")))
    for kind, total in compare(int(sys.argv[1]), originals, int((sys.argv[2:] or ["0"])[0])).most_common():
        print(f"{total:9,} {kind}")
