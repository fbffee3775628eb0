"""A script that was run on a simulated server: the publisher's states, and the expected stream."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import in_quotes
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.pgoutput_options import asks_for_two_phase, newest_version
from pubcheck.simulate.decoding.slot import Slot
from pubcheck.simulate.script import Step
from pubcheck.verify.publisher import Publisher, State


class Simulation(Struct, frozen=True):
    """A script that was run. ``rows`` are positions, transaction ids and data of the expected messages; ``ends`` the
    end of the log after each of ``steps``. ``refusals`` are the errors of statements, with
    their lines; ``error`` is the error at which decoding stops."""

    publisher: Publisher
    rows: Sequence[tuple[int, int, bytes]]
    steps: Sequence[Step]
    ends: Sequence[int]
    refusals: Sequence[tuple[int, ServerError]] = ()
    error: ServerError | None = None

    def step_at(self, lsn: int) -> Step | None:
        """Return the step that wrote the record at a position."""
        index = bisect_right(self.ends, lsn)
        return self.steps[index] if index < len(self.steps) else None


def simulate(
    major: int,
    setup: Iterable[Step],
    script: Sequence[Step],
    publications: Sequence[str],
    options: Mapping[str, str],
    settings: Mapping[str, str] = {},
) -> Simulation:
    """Run a schema and a script. Statements that the server refuses change nothing. ``settings`` are those of the
    session that reads the slot. Raises NotFollowed."""
    database = Database(major)
    names = tuple(publications)
    for step in setup:
        with suppress(ServerError):
            database.run(step)
    database.disconnect()
    versions = {database.version().number: database.version().catalog}
    slot = Slot(database, "pgoutput", two_phase=asks_for_two_phase(options))
    ends: list[int] = []
    refusals: list[tuple[int, ServerError]] = []
    for step in script:
        try:
            database.run(step)
        except ServerError as refusal:
            refusals.append((step.line, refusal))
        ends.append(database.position)
        version = database.version()
        versions.setdefault(version.number, version.catalog)
    states = [State(Session(catalog, complete=True), names) for catalog in versions.values()]
    quoted = ",".join(map(in_quotes, names))
    requested = {"proto_version": str(newest_version(BY_NUMBER[major])), **options, "publication_names": quoted}
    rows: Sequence[tuple[int, int, bytes]] = ()
    error = None
    try:
        rows = slot.peek(settings, **requested)
    except ServerError as stopped:
        error = stopped
    return Simulation(Publisher(states), rows, tuple(script), tuple(ends), refusals, error)
