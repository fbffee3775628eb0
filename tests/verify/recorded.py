"""Recorded streams with the publisher that they come from, at each time of its script."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from pubcheck import Config, Source
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.ddl.publications.options import split_identifiers
from pubcheck.stream import parse_lsn
from pubcheck.stream.framing.frame import Frame, Place
from pubcheck.verify import Options, Publisher, State

FOLDER = Path(__file__).parent.parent.parent / "corpus" / "streams"
_DEFINES = ("CREATE ", "ALTER ", "DROP ", "DO ", "SELECT * INTO ")


class Stream(Struct, frozen=True):
    """One capture of a script, with what it was requested with."""

    name: str
    publisher: Publisher
    publications: tuple[str, ...]
    options: Options
    frames: tuple[Frame, ...]
    script: dict[str, Any]
    raw: dict[str, str]
    """The options as the slot got them."""
    two_phase: bool
    settings: dict[str, str]
    """Those of the session that read the slot."""
    complete: bool
    """Whether decoding did not end with an error."""

    @property
    def title(self) -> str:
        return f"{self.name} on {self.publisher.major}"


def streams(folder: Path, pattern: str = "*pgoutput-*.jsonl.gz", family: str = "") -> Iterator[Stream]:
    """Yield the streams of pgoutput that a folder of recordings holds."""
    for path in sorted(folder.glob(pattern)):
        if "normalised" in path.name:
            continue
        with gzip.open(path) as lines:
            for line in lines:
                script = json.loads(line)
                if script["name"].startswith(family):
                    yield from _of_script(script)


def _of_script(script: dict[str, Any]) -> Iterator[Stream]:
    publishers: dict[tuple[str, ...], Publisher] = {}
    for capture in script["captures"]:
        names = split_identifiers(capture["options"].get("publication_names", ""))
        if capture["plugin"] != "pgoutput" or not names or not capture.get("rows"):
            continue
        publications = tuple(names)
        if publications not in publishers:
            publishers[publications] = Publisher(list(_states(script, publications)))
        frames = tuple(_frame(row, number) for number, row in enumerate(capture["rows"], 1))
        options = Options.of(capture["options"])
        publisher, complete = publishers[publications], not capture.get("error")
        yield Stream(
            script["name"],
            publisher,
            publications,
            options,
            frames,
            script,
            capture["options"],
            capture["two_phase_slot"],
            capture["settings"],
            complete,
        )


def _frame(row: list[Any], number: int) -> Frame:
    """Rows of functions are LSN, xid and data; those of walsenders the step, LSN and data."""
    if isinstance(row[0], int):
        return Frame(parse_lsn(row[1]), None, bytes.fromhex(row[2]), Place(number, line=number))
    return Frame(parse_lsn(row[0]), int(row[1]), bytes.fromhex(row[2]), Place(number, line=number))


def _states(script: dict[str, Any], publications: tuple[str, ...]) -> Iterator[State]:
    """The publisher before the script, and after each statement of it that defines something."""
    refused = {refusal["at"] for refusal in script["refused"]}
    linter = Linter(Config(postgres=(script["major"],), select=("PUB0",)))
    run = [_sql(step) for step in script["setup"]]

    def state() -> State:
        followed = linter.follow(Unit((Source("script.sql", ";\n".join(run) + ";"),)))
        return State(followed.replays[0].session, publications)

    yield state()
    for number, step in enumerate(script["steps"], 1):
        sql = _sql(step)
        if sql.upper().startswith(_DEFINES) and f"step {number}" not in refused:
            run.append(sql)
            yield state()


def _sql(step: str | dict[str, str]) -> str:
    return step if isinstance(step, str) else step.get("sql", "")
