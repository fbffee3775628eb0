"""The files of a unit that scripts of psql include: each runs where it is first included."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from pubcheck.source import Source


def may_include(source: Source) -> bool:
    """Return whether a source may include others."""
    return "\\i" in source.text


def included_source(path: str, label: str, sources: Sequence[Source]) -> int | None:
    """Return the number of the source that is probably meant by a path in the script of that label; None if there is
    none.

    A path starts from the folder in which psql was started (\\i) or from the script's (\\ir): any folder above the
    script may be the first one. If that leads nowhere, the file's name alone decides.
    """
    path, folder = path.replace("\\", "/"), posixpath.dirname(label.replace("\\", "/"))
    numbers = {posixpath.normpath(source.label.replace("\\", "/")): number for number, source in enumerate(sources)}
    while True:
        number = numbers.get(posixpath.normpath(posixpath.join(folder, path)))
        if number is not None or folder in ("", "/"):
            break
        folder = posixpath.dirname(folder)
    if number is not None:
        return number
    name = posixpath.basename(path)
    return next((number for label, number in numbers.items() if posixpath.basename(label) == name), None)
