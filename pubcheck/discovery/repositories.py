"""The repositories of a corpus, and to whom their files belong."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.discovery.file_types import File, join, label_of, view_of
from pubcheck.discovery.walk import folders_of, walk


def fixed_part(where: str) -> list[str] | None:
    """Return the folders of a pattern before its first wildcard; None for a path that is not a pattern, because it
    exists or has no wildcard."""
    if os.path.exists(where):
        return None
    parts = where.replace(os.sep, "/").split("/")
    folders = list(takewhile(lambda part: not any(wildcard in part for wildcard in "*?["), parts))
    return folders if len(folders) < len(parts) else None


class Repository(Struct, frozen=True):
    """A repository of a corpus: its files, by absolute path, and folders in it that cannot be listed. ``tops`` are the
    folders in it that git watches over by themselves, ``included`` the files that the configuration includes;
    ``linked``: one of the files is a link. ``root`` is its folder."""

    name: str
    files: tuple[tuple[str, File], ...]
    tops: tuple[str, ...] = ()
    included: tuple[str, ...] = ()
    linked: bool = False
    root: str = ""


class RepositoryPlace(Struct, frozen=True):
    """The name of a repository and its path. ``into``: the folders in it are part of it."""

    name: str
    path: str
    into: bool = True


def find_repositories(where: str, config: Config = Config()) -> Iterator[Repository]:
    """Yield the repositories of a corpus (``find_places``) that hold a file to read; it may be of any size."""
    tops: dict[str, str | None] = {}
    for place in find_places(where, config):
        yield from read_place(place, config, tops)


def find_places(where: str, config: Config = Config()) -> Iterator[RepositoryPlace]:
    """Return the places of the repositories of a corpus.

    - If ``where`` is a pattern (`corpus/*/*`), each match is a repository unless it is inside another match. Its name
      is the path below the part before the first wildcard.
    - If ``where`` is a folder with `.git`, it is a repository itself.
    - In any other folder, each subfolder is a repository, and its own files are a repository named ".".

    The labels of the files are those of `pubcheck lint`.
    """
    fixed = fixed_part(where)
    if fixed is not None:
        from glob import iglob

        repositories: set[str] = set()
        for path in sorted(iglob(where, recursive=True), key=lambda path: path.split(os.sep)):
            matched = _called(path).rstrip("/").split("/")
            if repositories.isdisjoint("/".join(matched[:length]) for length in range(1, len(matched))):
                repositories.add("/".join(matched))
                yield RepositoryPlace("/".join(matched[len(fixed) :]), path)
    elif not os.path.isdir(where) or os.path.exists(join(where, ".git")):
        yield RepositoryPlace(_called(os.path.basename(os.path.abspath(where))), where)
    else:
        yield RepositoryPlace(".", where, into=False)
        for name in folders_of(where, config):
            yield RepositoryPlace(_called(name), join(where, name))


def _called(path: str) -> str:
    """Return the name of a repository: as a label, but another one for each path, whatever bytes it holds."""
    text = path.replace(os.sep, "/") if os.sep != "/" else path
    return text.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def read_place(place: RepositoryPlace, config: Config, tops: dict[str, str | None]) -> Iterator[Repository]:
    """Return the repository of a place if it holds a file to read. ``tops`` keeps what was learnt about folders."""
    name, path = place.name, place.path
    if not os.path.isdir(path):
        error = None if os.path.exists(path) else os.strerror(errno.ENOENT)
        yield Repository(name, ((os.path.abspath(path), File(path, label_of(path), error=error)),))
        return
    walked = walk(path, config, into=place.into, tops=tops)
    top, prefix_length = os.path.abspath(path), len(join(path, ""))
    prefix = join(top, "")
    files = [(prefix + path[prefix_length:], File(path, label_of(path), view=view_of(path))) for path in walked.files]
    files += [
        (os.path.abspath(folder), File(folder, label_of(folder), error=problem)) for folder, problem in walked.problems
    ]
    if files:
        apart, included = (
            tuple(join(top, file_path[prefix_length:]) for file_path in paths)
            for paths in (walked.tops, walked.included)
        )
        yield Repository(
            name, tuple(sorted(files, key=lambda file_path: file_path[0])), apart, included, bool(walked.links), top
        )


# CODEOWNERS: to whom the files of a repository belong, as GitHub and GitLab read it.

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
