"""Walking folders: the files in them that may be read. Opens none of them but .gitignore."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.discovery.conventions import INSTALLED
from pubcheck.discovery.file_facts import is_list
from pubcheck.discovery.file_types import SUFFIXES, join, language_of, may_be_script
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
