"""Recorded streams: the files that corpus/streams/README.md describes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

Kind = Literal["functions", "live"]

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
        kind: Kind = "live" if match[1] else "functions"
        data = path.read_bytes()
        for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
            recording = _recording(json.loads(line), kind)
            if family is None or recording.family == family:
                yield recording


def _recording(line: dict[str, Any], kind: Kind) -> Recording:
    return Recording(
        line["name"],
        line["major"],
        kind,
        [_step(item) for item in line["setup"]],
        [_step(item) for item in line["steps"]],
        [_capture(item) for item in line["captures"]],
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
