"""Units that the configuration names outright: files in order, context, majors."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File, label_of, view_of
from pubcheck.discovery.walk import walk


def configured(config: Config) -> list[DiscoveredUnit]:
    """Return a unit for each `[[unit]]`, with paths from the current folder; ``schema`` is context."""
    root = os.path.abspath(config.root)
    units = []
    for unit in config.units:
        own = list(dict.fromkeys(path for pattern in unit.files for path in _matches(root, pattern, config)))
        before = list(dict.fromkeys(path for pattern in unit.schema for path in _matches(root, pattern, config)))
        files = [_file(path, context=True) for path in before if path not in own]
        files += [_file(path) for path in own]
        if not own:
            pattern = _file(os.path.join(root, unit.files[0]))
            files.append(replace(pattern, error=f"no file matches the files of {unit.name}"))
        units.append(
            DiscoveredUnit(unit.name, tuple(files), "configuration", "a unit of the configuration", unit.postgres)
        )
    return units


def _matches(root: str, pattern: str, config: Config) -> Iterator[str]:
    """Yield the files that a path or a pattern means, in the order of their names; a missing path is itself."""
    path = os.path.join(root, pattern)
    if os.path.isdir(path):
        yield from sorted(walk(path, config).files)
    elif not any(character in pattern for character in "*?["):
        yield os.path.normpath(path)
    else:
        from glob import iglob

        yield from sorted(match for match in iglob(path, recursive=True) if os.path.isfile(match))


def _file(path: str, *, context: bool = False) -> File:
    relative = os.path.relpath(path)
    shown = path if relative.startswith(os.pardir) else relative
    return File(shown, label_of(shown), view=view_of(path), context=context)
