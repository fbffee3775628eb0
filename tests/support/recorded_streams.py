"""Recorded streams: the files that corpus/streams/README.md describes."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

Kind = Literal["functions", "live"]

FOLDER = Path(__file__).parents[2] / "corpus" / "streams"

_FILE = re.compile(r"(live-)?(?:pgoutput|test_decoding)-(\d+)(\.normalised)?\.jsonl(?:\.gz)?")


class Step(Struct, frozen=True):
    """A statement, or COPY ... FROM STDIN with its data, in a session."""

    sql: str
    session: str = "a"
    data: str | None = None


class Capture(Struct, frozen=True):
    """What one reader of a slot got. ``rows`` are as recorded; ``error`` is (SQLSTATE, message)."""

    plugin: str
    options: dict[str, str]
    settings: dict[str, str]
    two_phase_slot: bool
    rows: list[list[Any]]
    notices: list[str]
    error: tuple[str, str] | None

    @property
    def title(self) -> str:
        parts = [f"{name}={value}" for name, value in {**self.options, **self.settings}.items()]
        return " ".join([self.plugin, *parts, *(["two-phase slot"] if self.two_phase_slot else [])])


class Recording(Struct):
    """One script on one server, with its captures."""

    name: str
    major: int
    kind: Kind
    setup: list[Step]
    steps: list[Step]
    captures: list[Capture] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    """The statements that the server refused: ``at`` is "setup 3" or "step 8"."""

    @property
    def family(self) -> str:
        return self.name.split("/")[0]


def recordings(folder: Path, majors: set[int] | None = None, family: str | None = None) -> Iterator[Recording]:
    """Yield the recordings of a folder. Normalised files are read only where the raw ones are missing."""
    files = {path.name: path for path in sorted(folder.iterdir())}
    for name, path in files.items():
        match = _FILE.fullmatch(name)
        if match is None or (majors and int(match[2]) not in majors):
            continue
        if match[3] and name.replace(".normalised", "") in files:
            continue
        for recording in recordings_in(path):
            if family is None or recording.family == family:
                yield recording


def recordings_in(path: Path) -> Iterator[Recording]:
    """Yield the recordings of one file."""
    kind: Kind = "live" if path.name.startswith("live-") else "functions"
    with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as lines:
        for line in lines:
            yield _recording(msgspec.json.decode(line), kind)


def messages(path: Path) -> Iterator[list[bytes]]:
    """Yield the messages of each capture of pgoutput in a file."""
    for recording in recordings_in(path):
        for capture in recording.captures:
            if capture.plugin == "pgoutput":
                yield [bytes.fromhex(data) for _, _, data in capture.rows]


def _recording(line: dict[str, Any], kind: Kind) -> Recording:
    return Recording(
        line["name"],
        line["major"],
        kind,
        [_step(item) for item in line["setup"]],
        [_step(item) for item in line["steps"]],
        [_capture(item) for item in line["captures"]],
        line["refused"],
    )


def _step(item: Any) -> Step:
    if isinstance(item, str):
        return Step(item)
    return Step(item.get("copy") or item["sql"], item.get("s", "a"), item.get("data"))


def _capture(item: dict[str, Any]) -> Capture:
    error = item.get("error")
    return Capture(
        item["plugin"],
        item["options"],
        item["settings"],
        item["two_phase_slot"],
        item.get("rows") or [],
        item.get("notices") or [],
        (error["sqlstate"], error["message"]) if error else None,
    )
