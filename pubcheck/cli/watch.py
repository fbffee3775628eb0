"""`pubcheck lint --watch`: lint again whenever a file changes, until Ctrl-C."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, cast

import click
from msgspec.structs import replace

from pubcheck.cli.app import NoInput, complain
from pubcheck.cli.lint_unit import Outcome, Task, died, lint_unit
from pubcheck.cli.process_pool import Workers
from pubcheck.config import CONFIG_FILES, ConfigError
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.engine.linter import Linter
from pubcheck.report import count
from pubcheck.server.analyst import Analyst, Failed

T = TypeVar("T")
R = TypeVar("R")

PAUSE = 0.3
"""Seconds between two looks at the files."""
_NOT_WALKED = frozenset(("node_modules", "__pycache__", "venv"))
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
"""Moves to the upper left corner, and clears the screen and the lines that were scrolled away."""

Stamp = tuple[int, int] | None
"""The time of the last change of a file or folder and its size, None if it is missing."""


class WarmWorkers(Workers):
    """Lints units in a process that keeps the state before the edited file, and skips unchanged units."""

    def __init__(self) -> None:
        super().__init__(1)
        self.stamps: dict[str, Stamp] = {}
        """Every file of the last run as it was before it was linted."""
        self.settings: dict[str, Stamp] = {}
        """The configuration and the baseline that were read."""
        self._analyst = Analyst()
        self._outcomes: dict[str, tuple[Task, list[Stamp], Outcome]] = {}

    def map(self, work: Callable[[T], R], tasks: Sequence[T], died: Callable[[T], R]) -> Iterator[R]:
        if work is not lint_unit:
            yield from super().map(work, tasks, died)
            return
        units = cast(Sequence[Task], tasks)
        self.stamps = {}
        for task in units[:1]:
            paths = (task.config.file, task.baseline.path if task.baseline is not None else "")
            self.settings.update((path, stamp(path)) for path in paths if path and path not in self.settings)
        outcomes = [self._outcome(task) for task in units]
        yield from cast(list[R], outcomes)

    def _outcome(self, task: Task) -> Outcome:
        stamps = [stamp(file.path) for file in task.unit.files]
        self.stamps.update(zip((file.path for file in task.unit.files), stamps, strict=True))
        task = replace(task, unit=_without_contents(task.unit))
        known = self._outcomes.get(task.unit.name)
        if known is not None and known[:2] == (task, stamps):
            return known[2]
        try:
            outcome = cast(Outcome, self._analyst.call(task.unit, task.config, _lint, task))
        except Failed:
            return died(task)
        self._outcomes[task.unit.name] = task, stamps, outcome
        return outcome

    def close(self) -> None:
        self._analyst.close()


def _lint(unit: DiscoveredUnit, linter: Linter, task: Task) -> Outcome:
    return lint_unit(task, linter)


def _without_contents(unit: DiscoveredUnit) -> DiscoveredUnit:
    return replace(unit, files=tuple(replace(file, cached_content=None) for file in unit.files))


def stamp(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def watch(lint: Callable[[WarmWorkers], int], paths: Sequence[str], settings: Sequence[str]) -> int:
    """Lint now and after every change of a file, a folder, the configuration or the baseline. Return the status of the
    last run. ``settings``: the configuration and the baseline that the command line names."""
    for path in paths:
        if not os.path.exists(path):
            raise click.UsageError(f"--watch needs files and folders, and there is no {path}")
    workers = WarmWorkers()
    status = 0
    try:
        while True:
            if sys.stdout.isatty():
                click.echo(_CLEAR, nl=False)
            # Before anything is read: a run that fails, as with a configuration that is not valid, notes no times.
            workers.stamps = {path: stamp(path) for path in workers.stamps}
            workers.settings = {path: stamp(path) for path in (*_configurations(), *settings, *workers.settings)}
            status = _linted(lint, workers)
            # Afterwards: the reports of the run may be in these folders.
            folders = {path: stamp(path) for path in _folders(paths or (".",))}
            watched = folders | workers.settings | workers.stamps
            click.echo(f"Watching {count(len(workers.stamps), 'file')}; Ctrl-C ends.", err=True)
            while all(stamp(path) == before for path, before in watched.items()):
                time.sleep(PAUSE)
    except KeyboardInterrupt:
        return status
    finally:
        workers.close()


def _linted(lint: Callable[[WarmWorkers], int], workers: WarmWorkers) -> int:
    """Lint once; a configuration that is not valid, or nothing to lint, is reported, and the user may correct it."""
    try:
        return lint(workers)
    except (ConfigError, NoInput) as error:
        return complain(str(error))


def _folders(paths: Sequence[str]) -> Iterator[str]:
    """Yield the folders to which files may be added."""
    for path in paths:
        for folder, below, _ in os.walk(path):
            below[:] = [name for name in below if not name.startswith(".") and name not in _NOT_WALKED]
            yield folder


def _configurations() -> Iterator[str]:
    """Yield where a configuration may be."""
    folder = os.getcwd()
    while True:
        yield from (os.path.join(folder, name) for name in CONFIG_FILES)
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent
