"""Recorded streams with the publisher that they come from, at each time of its script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from pubcheck import Config, Source
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.tokens import split_identifiers
from pubcheck.stream import parse_lsn
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Options, Publisher, State
from tests.support.recorded_streams import Capture, Recording, recordings_in

_DEFINES = ("CREATE ", "ALTER ", "DROP ", "DO ", "SELECT * INTO ")


class Stream(Struct, frozen=True):
    """One capture of a script, with the publisher and the options that it was requested with."""

    recording: Recording
    capture: Capture
    publisher: Publisher
    publications: tuple[str, ...]
    options: Options
    frames: tuple[Frame, ...]

    @property
    def complete(self) -> bool:
        """Whether decoding did not end with an error."""
        return self.capture.error is None

    @property
    def title(self) -> str:
        return f"{self.recording.name} on {self.publisher.major}"


def streams(folder: Path, pattern: str = "*pgoutput-*.jsonl.gz", family: str = "") -> Iterator[Stream]:
    """Yield the streams of pgoutput that a folder of recordings holds."""
    for path in sorted(folder.glob(pattern)):
        if "normalised" in path.name:
            continue
        for recording in recordings_in(path):
            if recording.name.startswith(family):
                yield from _streams_of(recording)


def _streams_of(recording: Recording) -> Iterator[Stream]:
    publishers: dict[tuple[str, ...], Publisher] = {}
    for capture in recording.captures:
        names = split_identifiers(capture.options.get("publication_names", ""))
        if capture.plugin != "pgoutput" or not names or not capture.rows:
            continue
        publications = tuple(names)
        if publications not in publishers:
            publishers[publications] = Publisher(list(_states(recording, publications)))
        frames = tuple(_frame(row, number) for number, row in enumerate(capture.rows, 1))
        options = Options.of(capture.options)
        yield Stream(recording, capture, publishers[publications], publications, options, frames)


def _frame(row: list[Any], number: int) -> Frame:
    """Rows of functions are LSN, xid and data; those of walsenders the step, LSN and data."""
    if isinstance(row[0], int):
        return Frame(parse_lsn(row[1]), None, bytes.fromhex(row[2]), Place(number, line=number))
    return Frame(parse_lsn(row[0]), int(row[1]), bytes.fromhex(row[2]), Place(number, line=number))


def _states(recording: Recording, publications: tuple[str, ...]) -> Iterator[State]:
    """The publisher before the script, and after each statement of it that defines something."""
    refused = {refusal["at"] for refusal in recording.refused}
    linter = Linter(Config(postgres=(recording.major,), select=("PUB0",)))
    run = [step.sql for step in recording.setup if step.data is None]

    def state() -> State:
        followed = linter.follow(Unit((Source("script.sql", ";\n".join(run) + ";"),)))
        return State(followed.replays[0].session, publications)

    yield state()
    for number, step in enumerate(recording.steps, 1):
        if step.sql.upper().startswith(_DEFINES) and f"step {number}" not in refused:
            run.append(step.sql)
            yield state()
