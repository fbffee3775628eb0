"""The files that are open in an editor, and the units that they belong to."""

from __future__ import annotations

import os

from msgspec.structs import replace

from pubcheck.config import Config, load
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.discovery.units import discover_units


class Workspace:
    """Open buffers by absolute path. Their text counts, not what is on the disk.

    Which files form a unit is looked up once, until ``forget`` says that files came or went.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._units: dict[str, DiscoveredUnit | None] = {}
        self._configs: dict[str, Config] = {}

    def put(self, path: str, text: str) -> None:
        """Take over the text of an open file."""
        if path not in self.texts:
            self.forget()
        self.texts[path] = text

    def close(self, path: str) -> None:
        self.texts.pop(path, None)
        self.forget()

    def forget(self) -> None:
        """Look up units and configurations again: files were created, deleted, moved or saved."""
        self._units.clear()
        self._configs.clear()

    def config(self, path: str) -> Config:
        """Return the configuration of a file: the nearest one above it. Raises ConfigError."""
        folder = os.path.dirname(path)
        if folder not in self._configs:
            self._configs[folder] = replace(load(folder), force_exclude=True)
        return self._configs[folder]

    def unit(self, path: str) -> DiscoveredUnit | None:
        """Return the unit of an open file, with the text of all open files; the other files that are not open are its
        context. None for a file that is excluded. Raises ConfigError."""
        if path not in self._units:
            buffers = {name: text.encode() for name, text in self.texts.items()}
            discovery = discover_units((path,), self.config(path), buffers=buffers)
            self._units[path] = discovery.units[0] if discovery.units else None
        unit = self._units[path]
        return None if unit is None else replace(unit, files=tuple(map(self._current, unit.files)))

    def _current(self, file: File) -> File:
        absolute = os.path.abspath(file.path)
        text = self.texts.get(absolute)
        if text is None:
            return file
        return replace(file, cached_content=text.encode(), context=False)

    def files_of(self, unit: DiscoveredUnit) -> list[str]:
        """Return the open files of a unit."""
        paths = (os.path.abspath(file.path) for file in unit.files)
        return [path for path in paths if path in self.texts]
