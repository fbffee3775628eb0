"""The engine: a unit in, its diagnostics out. Opens no file, prints nothing, knows no driver."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.engine.unit import Result, Unit
from pubcheck.engine.unit_run import Run
from pubcheck.source import Source
from pubcheck.statement_index import Statements


class Followed(Struct, frozen=True):
    """A unit followed to its end: what was found, one fold a major in the order of ``result.postgres``.

    ``found`` is what the selected rules say, that too which comments and the configuration keep out of the result, and
    internal errors. ``of_reading`` is not reported: how the files of a unit were read that is not about replication.
    """

    result: Result
    folds: tuple[Replay, ...]
    statements: Statements
    found: tuple[Diagnostic, ...]
    of_reading: tuple[Diagnostic, ...] = ()


class Linter:
    """Lints units under one configuration; keeps no state between units."""

    def __init__(self, config: Config = Config()) -> None:
        self.config = config

    def lint(self, unit: Unit) -> Result:
        """Judge a unit for every major asked for. Never raises for what its sources hold."""
        run = Run(self.config, unit, idle=self._idle(unit))
        return _result(run, run.found())

    def follow(self, unit: Unit) -> Followed:
        """As ``lint``, and what the judgement rests on: the final state of each major."""
        run = Run(self.config, unit)
        found = run.found()
        result = _result(run, found)
        return Followed(result, tuple(run.databases.folds), run.statements, (*found, *run.internal()), run.of_reading)

    def _idle(self, unit: Unit) -> bool:
        if self.config.variables or sum(len(source.text) for source in unit.sources) > _SMALL:
            return False
        return not any(map(_about_replication, unit.sources))


def _result(run: Run, found: tuple[Diagnostic, ...]) -> Result:
    counts = run.counts()
    return Result(run.reported(found), run.majors, sum(counts), counts, run.faults())


_SMALL = 1 << 20
"""Characters up to which a unit that speaks of no replication is only read, as most in a tree of thousands of files.
What a large schema costs does not double with its first publication."""
_JUDGED = ("publication", "subscription", "replica", "ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")
"""What every statement that is judged speaks of, or one before it: no index may hold a system column either."""


def _about_replication(source: Source) -> bool:
    """Whether there may be anything to judge."""
    text = source.text.lower()
    return any(word in text for word in _JUDGED)
