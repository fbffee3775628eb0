"""The facts of files, read once."""

from __future__ import annotations

import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Sequence
from stat import S_ISREG

from pubcheck.discovery.conventions import HEAD, kind_of
from pubcheck.discovery.file_types import SUFFIXES

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.file_facts import Traits
    from pubcheck.discovery.object_names import Names


_MAX_CACHED_BYTES = 16 << 20
"""Bytes of contents that are kept while units are found: those of most repositories."""
_SMALL = 1 << 16
"""Bytes that hold most files."""
_LENGTH = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)


class CachedFileInspector:
    """Opens files to answer questions about them, each once while there is room for its content. ``read`` is called
    for each file that was opened."""

    def __init__(self, read: Callable[[int], object] = lambda _number: None, room: int = _MAX_CACHED_BYTES) -> None:
        self._traits: dict[str, Traits] = {}
        self._names: dict[str, Names] = {}
        self.contents: dict[str, bytes] = {}
        """Contents by path: of files of SQL, and of others that are about replication."""
        self._room = room
        self._opened = read

    def listed(self, number: int) -> None:
        """Note that a folder with ``number`` entries was listed."""

    def expect(self, paths: Sequence[str]) -> None:
        """Prepare for questions about the ``traits`` of these files."""

    def know(self, paths: Sequence[str], inspected: Sequence[tuple[Traits, bytes | None]]) -> None:
        """Take over the traits, and the contents where they are sent, that somebody else found of files."""
        for path, (file_traits, content) in zip(paths, inspected, strict=True):
            self._traits[path] = file_traits
            if content is not None:
                self._keep(path, content)

    def know_content(self, path: str, content: bytes) -> None:
        """Use this content instead of the file on disk."""
        self.contents[path] = content
        self._traits[path] = _traits(path, content)

    def traits(self, path: str) -> Traits:
        file_traits = self._traits.get(path)
        if file_traits is None:
            content = self._read(path)
            file_traits = self._traits[path] = _traits(path, content)
            if not file_traits.concerned and path in self.contents and not path.lower().endswith(SUFFIXES):
                self._room += len(self.contents.pop(path))
        return file_traits

    def kind(self, path: str) -> str | None:
        """Return the kind alone, which the beginning of a file shows."""
        file_traits = self._traits.get(path)
        if file_traits is not None:
            return file_traits.kind
        try:
            if os.path.getsize(path) <= self._room:
                content = self._read(path)
                return None if content is None else kind_of(content[:HEAD])
            with open(path, "rb") as file:
                return kind_of(file.read(HEAD))
        except (OSError, ValueError):
            return None  # reported when the unit is read

    def names(self, path: str, needed: frozenset[str] | None = None) -> Names:
        # Loaded only if files that follow no convention are about publications.
        from pubcheck.discovery.object_names import Names, mentions, names

        file_names = self._names.get(path)
        if file_names is None:
            content = self._read(path)
            if content is None or (needed is not None and not mentions(content, needed)):
                return Names()
            file_names = self._names[path] = names(content)
        return file_names

    def _read(self, path: str) -> bytes | None:
        cached = self.contents.get(path)
        if cached is not None:
            return cached
        try:
            content = content_of(path)
        except (OSError, ValueError):
            return None  # reported when the unit is read
        self._opened(1)
        self._keep(path, content)
        return content

    def _keep(self, path: str, content: bytes) -> None:
        if len(content) <= self._room:
            self._room -= len(content)
            self.contents[path] = content


def _traits(path: str, content: bytes | None) -> Traits:
    # Loaded only where files are grouped: a file given by name rarely lies in a history.
    from pubcheck.discovery.file_facts import Traits, traits

    return Traits() if content is None else traits(path, content)


def content_of(path: str) -> bytes:
    """Return the content of a file, in half the time that `open` takes for a small one.

    Raises OSError, also for an empty pipe (`<(pg_dump ...)`), and ValueError for a path with a NUL.
    """
    descriptor = os.open(path, os.O_RDONLY | _BINARY)
    try:
        pieces: list[bytes] = []
        while piece := os.read(descriptor, _LENGTH if pieces else _SMALL):
            pieces.append(piece)
        if not pieces and not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "this pipe is empty; did the command that writes to it fail?")
    finally:
        os.close(descriptor)
    return b"".join(pieces)


_JSON_OPENINGS = (b"{", b"[", BOM_UTF8 + b"{", BOM_UTF16_LE + b"{", BOM_UTF16_BE + b"\0{")
_FIRST = 16


def opens_json(content: bytes) -> bool:
    """Return whether a content begins as a snapshot of a database may; no SQL does."""
    return content[:_FIRST].lstrip().startswith(_JSON_OPENINGS)


def begins_as_json(path: str) -> bool:
    """Return whether a path is a file, and not a pipe, that begins as a snapshot of a database may."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb", buffering=0) as file:
            return opens_json(file.read(_FIRST))
    except (OSError, ValueError):
        return False
