"""CODEOWNERS: to whom the files of a repository belong, as GitHub and GitLab read it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

OWNERS = "CODEOWNERS"
"""The name of the file."""
_FOLDERS = (".github/", "", "docs/", ".gitlab/")
"""The folders of a repository in which it is looked for, in this order."""


def read_owners(root: str) -> Owners | None:
    """Return the owners that a file in the repository ``root`` names."""
    top = root.rstrip("/") + "/"
    for _, path in _existing(top):
        try:
            with open(path, "rb") as file:
                return Owners(file.read(), top)
        except OSError:
            pass
    return None


def _existing(top: str) -> Iterator[tuple[str, str]]:
    """Return the folder and path of each such file in a repository, whose path ends with a slash."""
    for folder in _FOLDERS:
        path = f"{top}{folder}{OWNERS}"
        if os.access(path, os.F_OK):  # in half the time of an error; hardly a repository has one
            yield folder, path


def owners_states(root: str) -> list[str]:
    """Return what changes when the file of a repository does: the size and time of each that there is. A repository
    of one file has no ``root``."""
    states = []
    for folder, path in _existing(f"{root}/") if root else ():
        try:
            status = os.stat(path)
        except OSError:
            continue
        states.append(f"{folder}{OWNERS}\t{status.st_size}\t{status.st_mtime_ns}\t{status.st_ino}")
    return states


def owners_in(files: Mapping[str, bytes]) -> Owners | None:
    """Return the owners that the uppermost of these files names, by their paths."""
    places = [
        (path.count("/") - folder.count("/"), order, path, path.removesuffix(folder + OWNERS))
        for path in files
        for order, folder in enumerate(_FOLDERS)
        if path.endswith(folder + OWNERS) and (folder or not path.endswith(_IN_FOLDERS))
    ]
    if not places:
        return None
    _, _, path, root = min(places)
    return Owners(files[path], root)


_IN_FOLDERS = tuple(folder + OWNERS for folder in _FOLDERS if folder)
_SECTION = re.compile(r"\^?\[")
"""The beginning of a section of GitLab, which groups lines and has no pattern."""


class Owners:
    """The lines of a CODEOWNERS file.

    The last line that matches a path counts; if it names nobody, the path has no owners. ``root`` is the
    beginning of the paths of the repository's files.
    """

    def __init__(self, content: bytes, root: str = "") -> None:
        from pathspec.patterns.gitignore.basic import GitIgnoreBasicPattern

        self._root = root
        self._lines: list[tuple[GitIgnoreBasicPattern, int | None, tuple[str, ...]]] = []
        for line in content.decode("utf-8", "replace").splitlines():
            words = _words(line)
            # GitHub takes neither exceptions nor ranges of characters.
            if words and not words[0].startswith("!") and not _SECTION.match(line):
                pattern, *owners = words
                depth = pattern.strip("/").count("/") if pattern.endswith("/*") and "**" not in pattern else None
                self._lines.append((GitIgnoreBasicPattern(pattern), depth, tuple(owners)))

    def of(self, path: str) -> tuple[str, ...]:
        """Return the owners of a file."""
        path = path.removeprefix(self._root)
        for pattern, depth, owners in reversed(self._lines):
            # `docs/*` is about the files of a folder, unlike in a .gitignore, and not about those of its folders.
            if pattern.match_file(path) is not None and depth in (None, path.count("/")):
                return owners
        return ()


def _words(line: str) -> list[str]:
    """Return the pattern and the owners of a line; a space in a pattern is escaped by a backslash."""
    words = re.findall(r"(?:\\.|\S)+", line.split(" #")[0])
    return [] if line.lstrip().startswith("#") else [word.replace("\\ ", " ") for word in words]
