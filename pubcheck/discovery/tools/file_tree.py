"""The files of a tree while they are grouped into units: their paths, and which of them are taken.

Opens no files: a ``FileInspector`` answers questions about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from pubcheck.discovery.file_facts import Traits, is_list
from pubcheck.discovery.file_types import language_of, may_be_script
from pubcheck.lazy_regex import lazy_compile

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.object_names import Names


class FileInspector(Protocol):
    """Reads facts about a file's content, by path. A file that cannot be read has no traits and no names."""

    def traits(self, path: str) -> Traits: ...

    def names(self, path: str, needed: frozenset[str] | None = None) -> Names:
        """Return the names in a file. With ``needed``, a file that contains none of these may be reported as empty."""


class UnitCandidate(Struct, frozen=True):
    """The paths of files that form a unit according to a convention.

    - ``postgres``: the major versions that the files name
    - ``after``: the first file of each unit that was put before these files; it is shown after the ``reason``
    - ``context``: the number of members, from the first on, that belong to another unit and run before the others
    """

    name: str
    members: tuple[str, ...]
    convention: str
    reason: str
    postgres: tuple[int, ...] = ()
    after: tuple[str, ...] = ()
    context: int = 0


class Tree:
    """The paths of a tree, joined by "/". A convention takes its own files; no later convention sees them.

    By folder, the names in order: ``sql`` are the remaining files of SQL, ``programs`` those in other languages, and
    ``lists`` the tools' lists of their migrations.
    """

    def __init__(self, paths: Iterable[str], look: FileInspector, included: frozenset[str] = frozenset()) -> None:
        self.look = look
        self.sql: dict[str, list[str]] = {}
        self.programs: dict[str, list[str]] = {}
        self.lists: dict[str, list[str]] = {}
        self.offered: list[UnitCandidate] = []
        """Units that are used only if another unit needs the tables that they create."""
        self.undone: dict[str, str] = {}
        """Rollback files and files that a tool does not run, each with the reason why it is skipped."""
        for path in sorted(paths):
            folder, _, name = path.rpartition("/")
            if not folder.strip("/"):
                folder = path[: -len(name)]  # "/", or "//" where that is how a table writes it
            language = language_of(name)
            by_content = language == "sql" or may_be_script(name)
            is_sql = path in included if by_content else language is None
            if is_list(name):
                self.lists.setdefault(folder, []).append(name)
                if language is None:
                    continue  # one in YAML may hold statements too
            kind = self.sql if is_sql else self.programs
            kind.setdefault(folder, []).append(name)

    def path(self, folder: str, name: str) -> str:
        return f"{folder}/{name}" if folder.strip("/") else f"{folder}{name}"

    def folders(self) -> list[str]:
        """Return the folders with remaining files of SQL, in order."""
        return sorted(self.sql, key=lambda folder: folder.split("/"))

    def below(self, folder: str) -> Iterator[str]:
        """Return ``folder`` and the folders below it with remaining files of SQL, in order."""
        beginning = self.path(folder, "")
        return (child for child in self.folders() if child == folder or not folder or child.startswith(beginning))

    def files_by_path(self) -> dict[str, tuple[str, str]]:
        """Return the folder and name of each remaining file of SQL, in order."""
        return {self.path(folder, name): (folder, name) for folder in self.folders() for name in self.sql[folder]}

    def concerned(self, files: Iterable[tuple[str, str]]) -> bool:
        """Return whether one of these (folder, name) may be about replication."""
        return any(self.look.traits(self.path(*file)).concerned for file in files)

    def take(self, folder: str, names: Iterable[str]) -> None:
        """Take files of a folder: no later convention sees them."""
        removed = set(names)
        for kind in (self.sql, self.programs):
            if folder in kind:
                remaining = [name for name in kind[folder] if name not in removed]
                if remaining:
                    kind[folder] = remaining
                else:
                    del kind[folder]

    def drop(self, folder: str, names: Iterable[str], why: str) -> None:
        """Skip files: no convention puts them into a unit."""
        dropped = list(names)
        self.undone.update((self.path(folder, name), why) for name in dropped)
        self.take(folder, dropped)

    def offer(self, folder: str, names: Sequence[str]) -> None:
        """Offer files, in this order, to a unit that needs the tables that they create."""
        members = tuple(self.path(folder, name) for name in names)
        self.offered.append(UnitCandidate(shown(folder), members, "migrations", "numbered files in order"))

    def take_unit(self, name: str, files: Sequence[tuple[str, str]], convention: str, reason: str) -> UnitCandidate:
        """Take (folder, name) pairs as a unit in this order."""
        folders: dict[str, list[str]] = {}
        for folder, file in files:
            folders.setdefault(folder, []).append(file)
        for folder, names in folders.items():
            self.take(folder, names)
        return UnitCandidate(name, tuple(self.path(*file) for file in files), convention, reason)


Convention = Callable[[Tree], Iterable[UnitCandidate]]

_DIGITS = lazy_compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that orders names as people count: 2 before 10, and anything else by its letters."""
    parts = _DIGITS.split(name)
    return tuple((int(part), "") if number % 2 else (-1, part) for number, part in enumerate(parts) if part or number)


_Key = TypeVar("_Key")


def in_dependency_order(starts: Iterable[_Key], needs: Callable[[_Key], Iterable[_Key]]) -> list[_Key]:
    """Return migrations in this order, but each after those that it needs, where these do not need each other."""
    chain: dict[_Key, None] = {}
    for start in starts:
        waiting = [start]
        while waiting:
            left = [key for key in needs(waiting[-1]) if key not in chain and key not in waiting]
            if left:
                waiting.append(left[0])
            else:
                chain[waiting.pop()] = None
    return list(chain)


_UPGRADE_FOLDER = lazy_compile(r"(?:upgrade|update|patch|upgrade[_-]?script|delta)e?s?", re.I)
_UPGRADE_FILE = lazy_compile(r"(?:.*[._ -])?upgrades?(?:[._ -].*)?\.\w+|.*\d--v?\d.*\.\w+", re.I | re.S)


def is_upgrade(path: str) -> bool:
    """Return whether a script upgrades an older schema to the complete one next to it, by its name or that of a
    folder near it. It does not run after that one."""
    *folders, name = path.split("/")
    return _UPGRADE_FILE.fullmatch(name) is not None or any(map(_UPGRADE_FOLDER.fullmatch, folders[-3:]))


def shown(folder: str) -> str:
    """Return the name of a unit that is a folder."""
    return folder or "."
