"""Walking folders: the files in them that may be read. Opens none of them but .gitignore. And the repositories of a
corpus, and to whom their files belong."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.discovery.conventions import INSTALLED
from pubcheck.discovery.file_facts import is_list
from pubcheck.discovery.file_types import SUFFIXES, File, join, label_of, language_of, may_be_script, view_of
from pubcheck.gitignore import Patterns, above


class WalkResult(Struct, frozen=True):
    """The result of a walk: the paths of files, included files, links and nested Git repositories, and the folders that
    could not be listed, with the reasons."""

    files: list[str]
    included: list[str]
    links: list[str]
    tops: list[str]
    problems: list[tuple[str, str]]


def walk(
    top: str,
    config: Config,
    *,
    into: bool = True,
    tops: dict[str, str | None] | None = None,
    listed: Callable[[int], object] = lambda _number: None,
) -> WalkResult:
    """Return the files below a folder that are SQL by their names, may hold SQL, or are the lists of tools; not going
    ``into`` the folders in it, its own ones. Takes time in proportion to what is there; ``tops`` as in
    ``gitignore.top_of``. ``listed`` is called with the number of entries of each folder.

    Skipped are folders whose names begin with a dot, links to folders (so that loops end), pipes and devices, what
    git ignores, and what the configuration excludes; with ``include`` other files are met as well.
    """
    included = Patterns(os.path.abspath(config.root), config.include) if config.include else None
    absolute = os.path.abspath(top)
    ignoring = above(absolute, config.exclude, config.root, gitignore=config.respect_gitignore, tops=tops)
    result = WalkResult([], [], [], [], [])
    waiting = [(top, absolute, ignoring)]
    while waiting:
        folder, absolute, ignoring = waiting.pop()
        files: list[str] = []
        folders: list[str] = []
        number = 0
        try:
            with os.scandir(folder) as entries:
                for number, entry in enumerate(entries, 1):  # noqa: B007 - how many there are
                    name = entry.name
                    if name == ".git" and folder != top:
                        result.tops.append(folder)
                    if entry.is_dir(follow_symlinks=False):
                        if into and not name.startswith(".") and name not in INSTALLED:
                            folders.append(name)
                    elif name == ".gitignore" or ((included is not None or _by_name(name)) and _may_be_read(entry)):
                        files.append(name)
                        if entry.is_symlink():
                            result.links.append(join(folder, name))
        except OSError as error:
            result.problems.append((folder, error.strerror or str(error)))
            continue
        listed(number)
        if config.respect_gitignore:
            ignoring = ignoring.below(absolute, files)
        files = ignoring.without_ignored(absolute, files, folders=False)
        inside = join(folder, "")
        for name in files:
            if name == ".gitignore":
                continue
            path = inside + name
            if included is not None and included.decide(join(absolute, name), folder=False):
                result.included.append(path)
            elif included is not None and not _by_name(name):
                continue
            result.files.append(path)
        waiting += [
            (join(folder, name), join(absolute, name), ignoring)
            for name in ignoring.without_ignored(absolute, folders, folders=True)
        ]
    return result


def folders_of(folder: str, config: Config) -> list[str]:
    """Return the names of the folders in a folder that are walked; none of one that cannot be listed."""
    ignoring = above(os.path.abspath(folder), config.exclude, config.root, gitignore=config.respect_gitignore)
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in INSTALLED
            )
    except OSError:
        return []
    return ignoring.without_ignored(os.path.abspath(folder), names, folders=True)


def readable(paths: Iterable[str]) -> list[str]:
    """Return the paths of a repository, joined by "/", that a walk of its folders would meet."""
    readable_paths = []
    for path in paths:
        *folders, name = path.split("/")
        if _by_name(name) and not any(
            (subfolder.startswith(".") and subfolder not in (".", "..")) or subfolder in INSTALLED
            for subfolder in folders
        ):
            readable_paths.append(path)
    return readable_paths


def _by_name(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) or language_of(name) is not None or may_be_script(name) or is_list(name)


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    """Return whether a name is a file, or a link to nothing, which is reported; a pipe or a device would block."""
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir() and not os.path.exists(entry.path))
    except OSError:  # a loop of links
        return True


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
