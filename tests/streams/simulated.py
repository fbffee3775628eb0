"""Runs the script of a recording on a simulated server, and reads its slots as the recorder did."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.slot import Reader, Slot
from tests.streams.normalise import Row
from tests.support.recorded_streams import Capture, Recording, Step


class Stream(Struct):
    """What a simulated reader got; ``error`` is (SQLSTATE, message)."""

    rows: list[Row]
    notices: list[str]
    error: tuple[str, str] | None = None


def run(database: Database, step: Step) -> str | None:
    """Run a step, and return the SQLSTATE if the server refuses it, which is part of a script."""
    session = database.session(step.session)
    try:
        if step.data is None:
            session.run(step.sql)
        else:
            session.copy(step.sql, step.data)
    except ServerError as error:
        return error.sqlstate
    return None


def simulate(
    recording: Recording,
    refusals: list[str | None] | None = None,
    clock: Callable[[], int] | None = None,
    seed: int | None = None,
) -> list[Stream]:
    """Return the stream of each capture, and append the SQLSTATEs of steps. Raises NotFollowed."""
    refusals = [] if refusals is None else refusals
    database = Database(recording.major, clock=clock, seed=seed)
    for step in recording.setup:
        run(database, step)
    if recording.kind == "live":
        return _live(database, recording)
    slots = {
        (capture.plugin, capture.two_phase_slot): Slot(database, capture.plugin, two_phase=capture.two_phase_slot)
        for capture in recording.captures
    }
    for step in recording.steps:
        refusals.append(run(database, step))
    return [_peek(slots[capture.plugin, capture.two_phase_slot], capture) for capture in recording.captures]


def _peek(slot: Slot, capture: Capture) -> Stream:
    notices: list[str] = []
    try:
        reader = slot.start(capture.settings, **capture.options)
        notices = reader.notices
        rows = [row[:3] for row in reader.receive()]
    except ServerError as error:
        return Stream([], notices, (error.sqlstate, error.message))
    encoding = capture.settings.get("client_encoding") if capture.plugin == "test_decoding" else None
    if encoding is not None:  # a result of type text is converted
        rows = [(lsn, xid, data.decode().encode(encoding)) for lsn, xid, data in rows]
    return Stream([(0, lsn, xid, data) for lsn, xid, data in rows], notices)


class _Walsender:
    def __init__(self, database: Database, capture: Capture) -> None:
        self.stream = Stream([], [])
        self._reader: Reader | None = None
        try:
            slot = Slot(database, capture.plugin, two_phase=capture.two_phase_slot)
            self._reader = slot.start(capture.settings, **capture.options)
        except ServerError as error:
            self.stream.error = (error.sqlstate, error.message)

    def receive(self, step: int) -> None:
        if self._reader is None:
            return
        try:
            rows = self._reader.receive()
        except ServerError as error:
            self.stream.error = (error.sqlstate, error.message)
            rows = self._reader.sent()
            self._end()
        self.stream.rows += [(step, lsn if last else 0, 0, data) for lsn, _, data, last in rows]

    def _end(self) -> None:
        if self._reader is not None:
            self.stream.notices = self._reader.notices
            self._reader = None

    def close(self) -> Stream:
        self._end()
        return self.stream


def _live(database: Database, recording: Recording) -> list[Stream]:
    walsenders = [_Walsender(database, capture) for capture in recording.captures]
    for number, step in enumerate(recording.steps):
        run(database, step)
        for walsender in walsenders:
            walsender.receive(number)
    return [walsender.close() for walsender in walsenders]
