"""Which files a run reads, and which of them together build one database.

A file given by name is a unit of its own. A folder is walked: each directory that directly holds .sql files is one
unit, its files in the order of their names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.sources.files import STDIN, SUFFIXES, File, Plan, label_of, view_of


def find_plans(
    paths: Sequence[str],
    config: Config = Config(),
    *,
    together: bool = False,
    schema: Sequence[str] = (),
    stdin: bytes | None = None,
    stdin_label: str = "<stdin>",
) -> list[Plan]:
    """The units that ``paths`` mean, in the order given, each file once: where it is reached first.

    ``together`` makes them one unit. ``schema`` are files and folders that come first in every unit, as context.
    ``stdin`` is what stands for the path `-`. Folders whose names begin with a dot are not walked unless they are given
    by name, and neither are symbolic links to folders. A path that does not exist, and a folder that cannot be listed,
    is a unit of one file with an ``error``.
    """
    seen: set[tuple[int, int] | str] = set()
    plans = []
    before = tuple(replace(file, context=True) for plan in find_plans(schema) for file in plan.files) if schema else ()
    for path in paths:
        for plan in _plans_of(path, stdin, stdin_label):
            fresh = tuple(file for file in plan.files if _first_time(file, seen))
            if fresh:
                plans.append(replace(plan, files=fresh))
    if together and plans:
        files = tuple(file for plan in plans for file in plan.files)
        plans = [Plan(files[0].label, files, "together", "--together")]
    return [replace(plan, files=before + plan.files) for plan in plans] if before else plans


def _first_time(file: File, seen: set[tuple[int, int] | str]) -> bool:
    identity: tuple[int, int] | str = file.path
    if file.content is None:
        try:
            status = os.stat(file.path)
        except (OSError, ValueError):
            pass
        else:
            # A volume without inode numbers gives 0 for all of them.
            identity = (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(file.path)
    else:
        identity = "\0stdin"
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _plans_of(path: str, stdin: bytes | None, stdin_label: str) -> Iterator[Plan]:
    if path == STDIN and stdin is not None:
        yield Plan(stdin_label, (File(STDIN, stdin_label, content=stdin),), "stdin", "standard input")
    elif os.path.isdir(path):
        yield from _walk(path)
    else:
        label = label_of(path)
        yield Plan(label, (File(path, label, view=view_of(path)),), "file", "given by name")


class Repository(Struct, frozen=True):
    """A repository of a corpus and its units, as ``find_plans`` finds them in its folder."""

    name: str
    plans: tuple[Plan, ...]


def find_repositories(where: str, config: Config = Config()) -> Iterator[Repository]:
    """The repositories of a corpus that hold a file to read, one at a time, so that a corpus may be of any size.

    ``where`` is a pattern (`corpus/*/*`), each match of which, unless it lies in another one, is a repository, named
    by the path below what stands before the first wildcard; or a folder, in which each folder is a repository and its
    own files are one, named "."; a folder that holds `.git` is a repository itself. The labels of the files are those
    of `pubcheck lint`.
    """
    if any(character in where for character in "*?["):
        from glob import iglob

        parts = where.replace(os.sep, "/").split("/")
        fixed = next(number for number, part in enumerate(parts) if any(each in part for each in "*?["))
        taken: set[str] = set()
        for path in sorted(iglob(where, recursive=True), key=lambda path: path.split(os.sep)):
            matched = label_of(path).rstrip("/").split("/")
            if taken.isdisjoint("/".join(matched[:length]) for length in range(1, len(matched))):
                taken.add("/".join(matched))
                yield from _repository("/".join(matched[fixed:]), find_plans([path], config))
    elif not os.path.isdir(where) or os.path.exists(_join(where, ".git")):
        yield from _repository(os.path.basename(label_of(os.path.abspath(where))), find_plans([where], config))
    else:
        yield from _repository(".", list(_walk(where, into=False)))
        for name in _folders(where):
            yield from _repository(label_of(name), find_plans([_join(where, name)], config))


def _repository(name: str, plans: list[Plan]) -> Iterator[Repository]:
    if plans:
        yield Repository(name, tuple(plans))


def _folders(folder: str) -> list[str]:
    """The names of the folders in a folder that are walked; none of one that cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            )
    except OSError:
        return []


def group_paths(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """The units of a repository of which only the paths are at hand, as a walk of its folders would find them."""
    folders: dict[tuple[str, ...], set[str]] = {}
    for path in paths:
        *folder, name = path.split("/")
        if name.lower().endswith(SUFFIXES) and not any(_hidden(part) for part in folder):
            folders.setdefault(tuple(folder), set()).add(path)
    return [tuple(sorted(folders[folder])) for folder in sorted(folders)]


def _hidden(folder: str) -> bool:
    return folder.startswith(".") and folder not in (".", "..")


def _walk(top: str, *, into: bool = True) -> Iterator[Plan]:
    """The units below a folder: its own files first, then, going ``into`` them, those of each folder in it, in the
    order of their names."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        files, folders = [], []
        label = label_of(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith("."):
                            folders.append(entry.name)
                    elif entry.name.lower().endswith(SUFFIXES) and _may_be_read(entry):
                        files.append(entry.name)
        except OSError as error:
            yield Plan(label, (File(folder, label, error=error.strerror or str(error)),), "folder", "cannot be listed")
            continue
        if files:
            paths = [_join(folder, name) for name in sorted(files)]
            yield Plan(label, tuple(File(path, label_of(path)) for path in paths), "folder", "the files of a folder")
        if into:
            waiting += [_join(folder, name) for name in sorted(folders, reverse=True)]


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    """Whether a found name is a file, or a link to nothing, which is worth saying; a pipe or a device would block."""
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir() and not os.path.exists(entry.path))
    except OSError:  # a loop of links
        return True


def _join(folder: str, name: str) -> str:
    return folder + name if folder.endswith(("/", os.sep)) else folder + os.sep + name
