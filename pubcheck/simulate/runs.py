"""One run of a schema and a script on a simulated server, read through one slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import quote_identifier
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.pgoutput_options import asks_for_two_phase, newest_version
from pubcheck.simulate.decoding.slot import Reader, Row, Slot
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.script import Step, steps
from pubcheck.source import Source


class Request(Struct, frozen=True):
    """What to run and how to read it.

    ``publications`` are names; without any, all that the schema creates.
    """

    schema: Sequence[Source]
    script: Source
    plugin: str
    publications: tuple[str, ...]
    options: Mapping[str, str]
    settings: Mapping[str, str]
    live: bool


class Run(Struct):
    """The rows that the slot gave. ``notices`` are what psql would show: errors of statements, and of decoding.

    ``failed``: decoding ended with an error, or a script with ON_ERROR_STOP did. ``streaming`` is pgoutput's option.
    """

    major: int
    plugin: str
    streaming: Literal["off", "on", "parallel"]
    rows: list[Row] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    failed: bool = False


def run(request: Request, major: int) -> Run:
    """Run a request on one major. Raises NotFollowed."""
    database = Database(major)
    options = dict(request.options)
    result = Run(major, request.plugin, _streaming(options))
    for source in request.schema:
        _script(database, source, result)
        if result.failed:
            return result
    database.disconnect()
    if request.plugin == "pgoutput":
        options.setdefault("proto_version", str(newest_version(BY_NUMBER[major])))
        names = request.publications or [row.name for row in database.catalog.publications.values()]
        if not names and "publication_names" not in options:
            result.notices.append("WARNING: the schema creates no publication")
        options.setdefault("publication_names", ",".join(quote_identifier(name, major) for name in names))
    reader: Reader | None = None
    try:
        slot = database.slot(request.plugin, two_phase=asks_for_two_phase(options))
        if request.live:
            reader = slot.start(request.settings, **options)
        _script(database, request.script, result, reader)
        if reader is None:
            _peek(slot, request.settings, options, result)
    except ServerError as error:
        result.notices += _error(error)
        result.failed = True
    if reader is not None:
        result.rows += [row[:3] for row in reader.sent()]
        result.notices += reader.notices
    return result


def _streaming(options: Mapping[str, str]) -> Literal["off", "on", "parallel"]:
    value = options.get("streaming", "off").lower()
    if value == "parallel":
        return "parallel"
    return "on" if value in ("on", "true") else "off"


def _receive(reader: Reader, result: Run) -> None:
    result.rows += [row[:3] for row in reader.receive()]


def _peek(slot: Slot, settings: Mapping[str, str], options: Mapping[str, str], result: Run) -> None:
    rows, notices = slot.read(settings, options)
    result.rows += rows
    result.notices += notices


def _script(database: Database, source: Source, result: Run, reader: Reader | None = None) -> None:
    """Run a script up to its end, or to the error that stops it: psql then disconnects, which ends transactions."""
    for step in steps(source):
        is_refused = _is_refused(database, step, source.label, result)
        if is_refused and step.stops:
            result.failed = True
            for session in database.sessions.values():
                if session.transaction is not None:
                    session.run("ROLLBACK")
        if reader is not None:
            _receive(reader, result)
        if result.failed:
            return


def _is_refused(database: Database, step: Step, label: str, result: Run) -> bool:
    try:
        database.run(step)
    except ServerError as error:
        result.notices += _error(error, f"{label}:{step.line}: ")
        return True
    except NotFollowed as reason:
        reason.place = f"{label}:{step.line}"
        raise
    return False


def _error(error: ServerError, place: str = "") -> list[str]:
    lines = [f"{place}ERROR:  {error.message}"]
    lines += [f"DETAIL:  {error.detail}"] if error.detail else []
    return lines + ([f"HINT:  {error.hint}"] if error.hint else [])
