"""The files that are open in an editor, the units that they belong to, and when they are linted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable

from lsprotocol import types
from msgspec.structs import replace

from pubcheck import baseline
from pubcheck.baseline import Baseline
from pubcheck.config import CONFIG_FILES, Config, load
from pubcheck.consumers.profiles import is_own
from pubcheck.discovery.file_types import SUFFIXES, DiscoveredUnit, File
from pubcheck.discovery.units import discover_units
from pubcheck.server.conversion import Encoding, Lines
from pubcheck.source import decode


class Workspace:
    """Open buffers by absolute path. Their text counts, not what is on the disk.

    Which files form a unit is looked up once, until ``forget`` says that files came or went.
    """

    def __init__(self, config_path: str | None = None) -> None:
        self.config_path = config_path
        """The configuration file, None for the nearest one of each file."""
        self.encoding: Encoding = types.PositionEncodingKind.Utf16
        """The units in which the client counts columns."""
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        """The versions of open files, as the client numbers them."""
        self._lines: dict[str, Lines] = {}
        self._units: dict[str, DiscoveredUnit | None] = {}
        self._configs: dict[str, Config] = {}
        self._baselines: dict[str, Baseline | None] = {}

    def put(self, path: str, text: str, version: int) -> None:
        """Take over the text of an open file."""
        if path not in self.texts:
            self.forget()
        self.texts[path], self.versions[path] = text, version
        self._lines.pop(path, None)

    def is_unsaved(self, path: str) -> bool:
        """Return whether an open file has another text on the disk."""
        return path in self.texts and self.texts[path] != _text_on_disk(path)

    def close(self, path: str) -> None:
        self.texts.pop(path, None)
        self.versions.pop(path, None)
        self.forget()

    def lines(self, path: str) -> Lines:
        """Return the text of a file with its lines: of an open one, else as it is on the disk."""
        if path not in self._lines:
            text = self.texts.get(path)
            self._lines[path] = Lines(_text_on_disk(path) if text is None else text, self.encoding)
        return self._lines[path]

    def forget(self) -> None:
        """Look up units and configurations again: files were created, deleted, moved or saved."""
        self._units.clear()
        self._configs.clear()
        self._baselines.clear()
        self._lines.clear()

    def config(self, path: str) -> Config:
        """Return the configuration of a file: the nearest one above it. Raises ConfigError."""
        folder = os.path.dirname(path)
        if folder not in self._configs:
            self._configs[folder] = replace(load(folder, self.config_path), force_exclude=True)
        return self._configs[folder]

    def baseline(self, path: str) -> Baseline | None:
        """Return the baseline that the configuration of a file names. Raises ConfigError."""
        config = self.config(path)
        if config.file not in self._baselines:
            self._baselines[config.file] = baseline.of_config(config)
        return self._baselines[config.file]

    def unit(self, path: str) -> DiscoveredUnit | None:
        """Return the unit of an open file, with the text of all open files; the other files that are not open are its
        context. None for a file that is excluded. Raises ConfigError."""
        if path not in self._units:
            buffers = {name: _encoded(text) for name, text in self.texts.items()}
            discovery = discover_units((path,), self.config(path), buffers=buffers)
            self._units[path] = discovery.units[0] if discovery.units else None
        unit = self._units[path]
        return None if unit is None else replace(unit, files=tuple(map(self._current, unit.files)))

    def state(self, unit: DiscoveredUnit, path: str) -> tuple[object, ...]:
        """Return what the findings of the unit of an open file depend on: as long as it is equal, so are they."""
        config, versions, read = self.config(path), [], []
        for file in unit.files:
            absolute = os.path.abspath(file.path)
            if absolute in self.texts:
                versions.append(self.versions[absolute])
            else:
                read.append(absolute)
        read += [use.consumer for use in config.consumers if is_own(use.consumer)]
        known = self.baseline(path)
        if known is not None:
            read.append(known.path)
        return unit, config, versions, [_change_of(name) for name in read]

    def _current(self, file: File) -> File:
        absolute = os.path.abspath(file.path)
        text = self.texts.get(absolute)
        if text is None:
            return file
        return replace(file, cached_content=_encoded(text), context=False)

    def may_depend_on(self, path: str) -> bool:
        """Return whether findings of open files may change with a file on the disk: with SQL, a configuration, a
        baseline, and with any file in a folder of their units."""
        folder, name = os.path.split(path)
        if name.lower().endswith(SUFFIXES) or name in CONFIG_FILES:
            return True
        if any(known is not None and os.path.abspath(known.path) == path for known in self._baselines.values()):
            return True
        units = (unit for unit in self._units.values() if unit is not None)
        return any(os.path.dirname(os.path.abspath(file.path)) == folder for unit in units for file in unit.files)

    def files_of(self, unit: DiscoveredUnit) -> list[str]:
        """Return the open files of a unit."""
        paths = (os.path.abspath(file.path) for file in unit.files)
        return [path for path in paths if path in self.texts]


def _encoded(text: str) -> bytes:
    # A client may send half of a surrogate pair; a question mark in its place keeps all offsets.
    return text.encode(errors="replace")


def _change_of(path: str) -> tuple[int, int] | None:
    """Return the time of the last change of a file and its size; None for one that does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _text_on_disk(path: str) -> str:
    """Return the text of a file, "" for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return decode(file.read()).text or ""
    except OSError:
        return ""


# When the open files of an editor are linted.

PAUSE = 0.05
"""Seconds without another change after which a file is linted."""


class Schedule:
    """Files that wait to be linted, each at most once. One unit is linted at a time: files that change meanwhile wait
    for its end, however often they change."""

    def __init__(self, lint: Callable[[str], Awaitable[None]], stop: Callable[[], None] = lambda: None) -> None:
        """``lint`` lints the unit of a file, and calls ``begin`` with the files that its findings are about. ``stop``
        is called if one of them changes meanwhile, so that ``lint`` need not go on."""
        self._lint = lint
        self._stop = stop
        self._due: dict[str, float] = {}
        """Files that wait, with the times at which they are linted."""
        self._changed: set[str] = set()
        """Those of them that are known to have changed."""
        self.current: frozenset[str] = frozenset()
        """The files that are being linted."""
        self._task: asyncio.Task[None] | None = None
        self._end_of_lint = asyncio.Event()

    def put(self, path: str, pause: float = PAUSE) -> None:
        """Lint the unit of a file that changed, after a pause in which the file does not change again."""
        self._changed.add(path)
        if path in self.current:
            self._stop()
        self._put(path, pause)

    def put_unchanged(self, path: str) -> None:
        """Lint the unit of a file of which nobody knows that it changed. A lint that is under way goes on."""
        if path not in self._due:
            self._put(path, 0)

    def _put(self, path: str, pause: float) -> None:
        self._due[path] = asyncio.get_running_loop().time() + pause
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def remove(self, path: str) -> None:
        """Forget a file that was closed."""
        self._due.pop(path, None)
        self._changed.discard(path)

    def begin(self, paths: Iterable[str]) -> None:
        """Take the files that are linted now from those that wait."""
        self.current = frozenset(paths)
        for path in self.current:
            self.remove(path)

    def waits(self, paths: Iterable[str]) -> bool:
        """Return whether one of these files changed since it was last linted."""
        return any(path in self._changed for path in paths)

    async def settled(self, path: str) -> None:
        """Wait until the findings of a file are those of its present text."""
        while path in self._due or path in self.current:
            await self._end_of_lint.wait()

    async def _run(self) -> None:
        while self._due:
            now = asyncio.get_running_loop().time()
            ready = [path for path, due in self._due.items() if due <= now]
            if not ready:
                await asyncio.sleep(min(self._due.values()) - now)
                continue
            # The file that somebody edits does not wait for all that are open, which a save looks at again.
            path = max(ready, key=self._due.__getitem__)
            self.begin([path])
            await self._lint(path)
            self.current = frozenset()
            self._end_of_lint.set()
            self._end_of_lint = asyncio.Event()
        self._task = None
