"""A linter that keeps the state of a unit before the file that is being edited."""

from __future__ import annotations

from pubcheck.config import Config
from pubcheck.engine.dump_major import major_of_dump
from pubcheck.engine.linter import Followed, Linter, followed_to_the_end
from pubcheck.engine.unit import Unit
from pubcheck.engine.unit_run import Run
from pubcheck.source import Source


class WarmLinter(Linter):
    """``prepare`` replays a unit up to the source that is edited, ``follow`` goes on from there if it still can.

    A state is not undone, so ``follow`` uses it up: it is meant for a copy of the process.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._run: Run | None = None
        self._replayed = 0
        """The number of sources that are replayed."""

    def prepare(self, unit: Unit, opened: int) -> None:
        """Replay the sources before the first one that differs from the last time; the first time, before number
        ``opened``."""
        if not _can_be_continued(unit):
            self._run = None
            return
        run = self._run
        if run is None or not _alike(run.unit, unit):
            run, self._replayed, edited = Run(self.config, unit), 0, opened
        else:
            edited = _equal(run.unit.sources, unit.sources)
            if edited >= max(len(unit.sources), len(run.unit.sources)):
                return  # nothing changed
            if edited < self._replayed:
                run, self._replayed = Run(self.config, unit), 0
            else:
                run.continue_with(unit, self._replayed)
        run.replay(self._replayed, edited)
        self._run, self._replayed = run, edited

    def follow(self, unit: Unit) -> Followed:
        run, self._run = self._run, None
        if run is None or not _can_be_continued(unit) or not _alike(run.unit, unit):
            return super().follow(unit)
        if _equal(run.unit.sources, unit.sources) < self._replayed:
            return super().follow(unit)
        run.continue_with(unit, self._replayed)
        run.replay(self._replayed)
        return followed_to_the_end(run)


def _can_be_continued(unit: Unit) -> bool:
    """Return whether the sources of a unit run one after the other and nothing about it is found in all together."""
    plain = all(source.view is None and source.listing is None for source in unit.sources)
    return plain and not unit.reading_notes and not major_of_dump(unit.sources)[0]


def _alike(before: Unit, after: Unit) -> bool:
    """Return whether two units are linted alike except for their sources."""
    return (
        (before.postgres, before.convention, before.loose, before.context)
        == (after.postgres, after.convention, after.loose, after.context)
        and before.speaks_of_replication() == after.speaks_of_replication()
        and [source.label for source in before.sources] == [source.label for source in after.sources]
    )


def _equal(before: tuple[Source, ...], after: tuple[Source, ...]) -> int:
    """Return how many sources at the beginning have the same texts."""
    for number, (source, other) in enumerate(zip(before, after, strict=False)):
        if source.text != other.text:
            return number
    return min(len(before), len(after))
