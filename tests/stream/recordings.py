"""The recorded streams in corpus/streams."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec

FOLDER = Path(__file__).parents[2] / "corpus" / "streams"


class Capture(msgspec.Struct):
    """What a slot gave: rows of position, transaction ID and data or, live, of step, position and data."""

    plugin: str
    options: dict[str, str]
    rows: list[tuple[str | int, str, str]] = []


class Recording(msgspec.Struct):
    """A script, with what its slots gave."""

    name: str
    major: int
    captures: list[Capture]


def recordings(path: Path) -> Iterator[Recording]:
    """Yield the scripts of a file."""
    decoder = msgspec.json.Decoder(Recording)
    with gzip.open(path) as lines:
        yield from map(decoder.decode, lines)


def messages(path: Path) -> Iterator[list[bytes]]:
    """Yield the messages of each capture of pgoutput in a file."""
    for recording in recordings(path):
        for capture in recording.captures:
            if capture.plugin == "pgoutput":
                yield [bytes.fromhex(data) for _, _, data in capture.rows]
