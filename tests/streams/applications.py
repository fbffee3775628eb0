"""Scripts as applications run them, on real servers and on simulated ones: `python -m tests.streams scripts`.

A script of ``corpus/applications`` is a schema, a line `-- script`, and statements. Times and random identifiers differ
from run to run and are replaced.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import time
import traceback
from collections import Counter
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import psycopg
from msgspec import Struct, field

from pubcheck.simulate import script
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.source import Source
from tests.streams.compare import difference
from tests.streams.random_streams import read_slot
from tests.streams.simulated import Stream, simulate
from tests.support.recorded_streams import Capture, Recording, Step
from tests.support.servers import Answer, Server, add_options, asked, execute

FOLDER = Path(__file__).parents[2] / "corpus" / "applications"

_DIVISION = re.compile(r"(?m)^-- script\n")
_POSTGRES = re.compile(r"-- postgres: (\d+)")
_SMALL = {"logical_decoding_work_mem": "64kB"}
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_PLUGINS = ("pgoutput", "test_decoding")


class Application(Struct):
    """A script: its first major, the statements before and after the slots are created."""

    name: str
    first_major: int
    setup: list[Step]
    steps: list[Step]


class Comparison(Struct):
    """How one script agrees on one major. ``not_followed`` is the reason for none."""

    differences: list[str] = field(default_factory=list)
    not_followed: str | None = None
    transactions: int = 0


def applications(folder: Path = FOLDER) -> dict[str, Application]:
    return {path.stem: _application(path) for path in sorted(folder.glob("*.sql"))}


def _application(path: Path) -> Application:
    setup, steps = _DIVISION.split(path.read_text())
    needed = _POSTGRES.search(setup)
    return Application(path.stem, int(needed[1]) if needed else 15, _steps(path, setup), _steps(path, steps))


def _steps(path: Path, text: str) -> list[Step]:
    return [Step(step.sql, step.session, step.data) for step in script.steps(Source(path.name, text))]


def _captures() -> list[Capture]:
    base = {"messages": "on"}
    readings: list[tuple[str, dict[str, str], dict[str, str]]] = [
        ("pgoutput", {"proto_version": "1", **base}, {}),
        ("pgoutput", {"proto_version": "2", "streaming": "on", **base}, _SMALL),
        ("test_decoding", {"skip-empty-xacts": "1"}, {}),
    ]
    return [
        Capture(plugin, options, settings, two_phase_slot=False, rows=[], notices=[], error=None)
        for plugin, options, settings in readings
    ]


def on_server(server: Server, application: Application) -> tuple[Recording, list[str | None]]:
    """Run a script, and return what slots give and what is refused."""
    recording = Recording(application.name, server.major, "functions", application.setup, application.steps)
    refusals: list[str | None] = []
    with server.database() as name:
        connections: dict[str, psycopg.Connection[Any]] = {}

        def run(step: Step) -> Answer:
            if step.session not in connections:
                connections[step.session] = server.connect(name)
                connections[step.session].execute("SET statement_timeout = '5s'")
            return _run(connections[step.session], step)

        try:
            for step in application.setup:
                answer = run(step)
                assert answer.ok, f"{application.name}: {answer.message}: {step.sql}"
            publications = connections["a"].execute("SELECT string_agg(quote_ident(pubname), ',') FROM pg_publication")
            names = (publications.fetchone() or ("",))[0]
            for plugin in _PLUGINS:
                connections["a"].execute(
                    "SELECT pg_create_logical_replication_slot(%s, %s)", [f"{name}_{plugin}", plugin]
                )
            refusals += [run(step).sqlstate for step in application.steps]
            connections["a"].execute("CHECKPOINT")
            for capture in _captures():
                if capture.plugin == "pgoutput":
                    capture.options["publication_names"] = str(names)
                with server.connect(name) as reader:
                    recording.captures.append(read_slot(reader, f"{name}_{capture.plugin}", capture))
        finally:
            for connection in connections.values():
                connection.close()
            _drop_slots(server, name)
    return recording, refusals


def _run(connection: psycopg.Connection[Any], step: Step) -> Answer:
    if step.data is None:
        return execute(connection, step.sql)
    try:
        with connection.cursor().copy(step.sql.encode()) as copy:
            copy.write(step.data)
    except psycopg.Error as error:
        return Answer(False, sqlstate=error.sqlstate, message=str(error))
    return Answer(True)


def _drop_slots(server: Server, database: str) -> None:
    with server.connect() as admin:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            query = "SELECT slot_name, active FROM pg_replication_slots WHERE database = %s"
            slots = admin.execute(query, [database]).fetchall()
            for slot, active in slots:
                if not active:
                    admin.execute("SELECT pg_drop_replication_slot(%s)", [slot])
            if not any(active for _, active in slots):
                return


_TIME = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d(:\d\d)?)?"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


@lru_cache
def _masked(text: str) -> str:
    """Replace the times and dates of this year, and random identifiers."""
    year = f"{datetime.now(UTC).year}"
    text = re.sub(_TIME, lambda match: "(now)" if match[0].startswith(year) else match[0], text)
    return re.sub(rf"{year}-\d\d-\d\d|{_UUID}", "(now)", text)


def compare_application(server: Server, application: Application) -> Comparison:
    """Compare one script on one server."""
    result = Comparison()
    recording, refusals = on_server(server, application)
    simulated: list[str | None] = []
    times = itertools.count(int((datetime.now(UTC) - _EPOCH).total_seconds()) * 1_000_000, 1_000_000)
    try:
        streams = simulate(recording, simulated, clock=lambda: next(times), seed=1)
    except NotFollowed as reason:
        result.not_followed = str(reason)
        return result
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        result.differences.append(f"internal error: {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})")
        return result
    for step, server_state, state in zip(application.steps, refusals, simulated, strict=True):
        if server_state != state:
            result.differences.append(f"{step.session}: {step.sql[:200]}: server {server_state}, simulated {state}")
    for capture, stream in zip(recording.captures, streams, strict=True):
        text = _difference(capture, stream)
        if text is not None:
            result.differences.append(f"{capture.title}: {text}")
    if recording.captures:
        rows = recording.captures[-1].rows
        result.transactions = sum(str(row[2]).startswith("BEGIN") for row in rows)
    return result


def _difference(capture: Capture, stream: Stream) -> str | None:
    return difference(capture, stream, "functions", masked=_masked).text


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.streams scripts", description=__doc__)
    parser.add_argument("names", nargs="*", help="names of scripts; without any, all")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    add_options(parser)
    options = parser.parse_args(arguments)
    chosen = [item for name, item in applications(options.folder).items() if not options.names or name in options.names]
    counts: Counter[str] = Counter()
    with asked(options) as servers:
        for application in chosen:
            for major in (major for major in servers if major >= application.first_major):
                result = compare_application(servers[major], application)
                counts["scripts"] += 1
                counts["transactions"] += result.transactions
                if result.not_followed is not None:
                    counts["not followed"] += 1
                    print(f"{application.name} on {major}: {result.not_followed}", flush=True)
                counts["different"] += bool(result.differences)
                for text in result.differences:
                    print(f"{application.name} on {major} differs: {text}", flush=True)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
