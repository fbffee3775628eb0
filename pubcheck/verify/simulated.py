"""A script that was run on a simulated server: the publisher's states, and the expected stream."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.simulate.runs import Request, run
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
    setup: Sequence[Step],
    script: Sequence[Step],
    publications: Sequence[str],
    options: Mapping[str, str],
    settings: Mapping[str, str] = {},
) -> Simulation:
    """Run a schema and a script. ``settings`` are those of the session that reads the slot. Raises NotFollowed."""
    names = tuple(publications)
    own = {name: value for name, value in options.items() if name != "publication_names"}
    result = run(Request(setup, script, names, options=own, settings=settings), major)
    states = [State(Session(catalog, complete=True), names) for catalog in result.versions.values()]
    refusals = tuple((step.line, error) for step, error in result.refusals)
    return Simulation(Publisher(states), result.rows, tuple(script), tuple(result.ends), refusals, result.error)
