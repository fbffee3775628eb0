"""The engine: lint a unit and return its diagnostics. It opens no file, prints nothing, and knows no driver."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.engine.unit import Result, Unit
from pubcheck.engine.unit_run import Run
from pubcheck.source import Source
from pubcheck.statement_index import Statements
from pubcheck.words import words


class Followed(Struct, frozen=True):
    """A unit after its last statement: the findings, and one replay per major in the order of ``result.postgres``.

    ``findings`` has all findings of the selected rules, including those that comments and the configuration suppress,
    and internal errors. ``reading_notes`` are not reported: they say how files were read that are not about
    replication.
    """

    result: Result
    replays: tuple[Replay, ...]
    statements: Statements
    findings: tuple[Diagnostic, ...]
    reading_notes: tuple[Diagnostic, ...] = ()


class Linter:
    """Lints units under one configuration; keeps no state between units."""

    def __init__(self, config: Config = Config()) -> None:
        self.config = config

    def lint(self, unit: Unit) -> Result:
        """Lint a unit for every requested major. Never raises because of the contents of its sources."""
        run = Run(self.config, unit, idle=self._idle(unit))
        return _result(run, run.findings())

    def follow(self, unit: Unit) -> Followed:
        """Lint a unit, and return the final state of each major too."""
        run = Run(self.config, unit)
        run.replay()
        return followed_to_the_end(run)

    def _idle(self, unit: Unit) -> bool:
        if any(source.listing is not None for source in unit.sources):
            return False
        if self.config.variables or sum(len(source.text) for source in unit.sources) > _SMALL_UNIT:
            return False
        return not any(map(_about_replication, unit.sources))


def followed_to_the_end(run: Run) -> Followed:
    """Return the final state of a unit whose last source was replayed."""
    findings = run.final_findings()
    result = _result(run, findings)
    return Followed(
        result, tuple(run.databases.replays), run.statements, (*findings, *run.internal()), run.reading_notes
    )


def _result(run: Run, findings: tuple[Diagnostic, ...]) -> Result:
    counts = run.counts()
    names = frozenset(name for replay in run.databases.replays for name in replay.catalog.publication_names)
    return Result(run.reported(findings), run.majors, sum(counts), counts, run.faults(), names)


_SMALL_UNIT = 1 << 20
"""A unit up to this size (in characters) without a word about replication is only read.

Most units in a tree of thousands of files are like that. A larger one is always followed, so its cost does not double
with its first publication.
"""
_CHECKED_WORDS = words("""
    publication subscription replica repack ctid xmin xmax cmin cmax tableoid
""")
"""Every statement with a finding, or one before it, has one of these words. The system columns are here because an
index on one is refused."""


def _about_replication(source: Source) -> bool:
    """Return whether a source may have anything to check."""
    text = source.text.lower()
    return any(word in text for word in _CHECKED_WORDS)
