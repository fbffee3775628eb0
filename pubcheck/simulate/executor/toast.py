"""Where long values are stored: in line, compressed, or out of line (access/heap/heaptoast.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.compression import compressed_length
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.tuple_sizes import TOAST_POINTER, Attribute

THRESHOLD = 2032
"""TOAST_TUPLE_THRESHOLD and TOAST_TUPLE_TARGET."""
_TARGET_OF_MAIN = 8160
CHUNK = 1996
"""TOAST_MAX_CHUNK_SIZE."""
_LONGEST_ROW = 8160
_LEAST = 24
"""Values that are no longer than a pointer to them stay where they are."""


def store(table: Table, version: Version, old: Version | None) -> tuple[int, ...]:
    """Set the size of a new version, and how its long values are stored. Return the lengths of the chunks that are
    written for it.

    Values that an UPDATE leaves alone stay as they are stored.
    """
    if old is not None:
        for kept, new in ((old.external, version.external), (old.compressed, version.compressed)):
            new.update({number: size for number, size in kept.items() if version.get(number) is old.get(number)})
    version.size = table.layout.size(version, _stored(version))
    if version.size <= THRESHOLD or not table.layout.with_toast:
        return _checked(version, ())
    return _checked(version, _Toaster(table, version).run())


def _stored(version: Version) -> dict[int, int]:
    if not version.external and not version.compressed:
        return {}
    return {**version.compressed, **dict.fromkeys(version.external, -TOAST_POINTER)}


def _checked(version: Version, chunks: tuple[int, ...]) -> tuple[int, ...]:
    size = version.size + 7 & ~7
    if size > _LONGEST_ROW:
        raise ServerError("54000", f"row is too big: size {size}, maximum size {_LONGEST_ROW}")
    return chunks


class _Toaster:
    """heap_toast_insert_or_update for one row."""

    def __init__(self, table: Table, version: Version) -> None:
        self.table, self.version = table, version
        self.layout = table.layout
        self.incompressible: set[int] = set()
        self.chunks: list[int] = []

    def run(self) -> tuple[int, ...]:
        target = THRESHOLD
        while self._length() > target:
            biggest = self._biggest(("extended", "external"), for_compression=True)
            if biggest is None:
                break
            if biggest.storage == "extended":
                self._compress(biggest)
            else:
                self.incompressible.add(biggest.number)
            if self._size(biggest) > self._limit(target):
                self._move_out(biggest)
        while self._length() > target and (biggest := self._biggest(("extended", "external"))) is not None:
            self._move_out(biggest)
        while self._length() > target and (biggest := self._biggest(("main",), for_compression=True)) is not None:
            self._compress(biggest)
        while self._length() > _TARGET_OF_MAIN and (biggest := self._biggest(("main",))) is not None:
            self._move_out(biggest)
        self.version.size = self._length()
        return tuple(self.chunks)

    def _length(self) -> int:
        return self.layout.size(self.version, _stored(self.version))

    def _limit(self, target: int) -> int:
        """The most bytes of data, without the row's header."""
        return target - self.layout.offset[any(value is None for value in self.version.values())]

    def _size(self, attribute: Attribute) -> int:
        """The whole length of a value as it is stored now."""
        number = attribute.number
        if number in self.version.compressed:
            return self.version.compressed[number]
        return self._plain_size(attribute)

    def _plain_size(self, attribute: Attribute) -> int:
        assert attribute.measure is not None
        length = attribute.measure(self.version[attribute.number])
        return length + 1 if length <= 126 else length + 4

    def _biggest(self, storages: tuple[str, ...], *, for_compression: bool = False) -> Attribute | None:
        """toast_tuple_find_biggest_attribute."""
        best: Attribute | None = None
        most = _LEAST
        for attribute in self.layout.attributes:
            number = attribute.number
            if attribute.length >= 0 or attribute.storage not in storages or self.version.get(number) is None:
                continue
            if number in self.version.external:
                continue
            if for_compression and (number in self.incompressible or number in self.version.compressed):
                continue
            size = self._size(attribute)
            if size > most:
                best, most = attribute, size
        return best

    def _compress(self, attribute: Attribute) -> None:
        """toast_tuple_try_compression."""
        number = attribute.number
        data = _bytes(self.version[number])
        length = compressed_length(data)
        if length is not None and length + 8 < len(data) - 2:
            self.version.compressed[number] = length + 8
        else:
            self.incompressible.add(number)

    def _move_out(self, attribute: Attribute) -> None:
        """toast_tuple_externalize."""
        number = attribute.number
        compressed = self.version.compressed.pop(number, None)
        flat = compressed if compressed is not None else self._plain_size(attribute)
        data = flat - 4 if flat > 127 else flat - 1
        self.version.external[number] = flat
        while data > 0:
            self.chunks.append(min(data, CHUNK))
            data -= CHUNK


def _bytes(value: Any) -> bytes:
    """The data of a value as it is compressed."""
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if isinstance(value, bytes):
        return value
    raise NotFollowed("how well a long value that is neither text nor bytea is compressed")
