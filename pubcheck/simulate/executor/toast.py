"""Where long values are stored: in line, compressed, or out of line (access/heap/heaptoast.c).

The compressed length of a value depends on the matches that pglz finds (common/pg_lzcompress.c), so they are searched
for in the same way.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.tuple_sizes import TOAST_POINTER, Attribute

_LEAST_INPUT = 32
_MUST_MATCH_BY = 1024
_GOOD_MATCH, _DROP = 128, 10
_HISTORY = 4096
_LONGEST_MATCH = 273
_FARTHEST = 0x0FFF
_LONG_TAG = 17
"""A match longer than this needs three bytes instead of two."""


def compressed_length(data: bytes) -> int | None:
    """Return the length of data that pglz has compressed; None if it gives up, because it saves too little (25%)."""
    length = len(data)
    if length < _LEAST_INPUT:
        return None
    most = length * 75 // 100
    history = _History(data)
    place = written = items = 0
    matched = False
    while place < length:
        if written >= most or (not matched and written >= _MUST_MATCH_BY):
            return None
        match = history.longest_match(place)
        written += not items % 8  # a control byte before each eight items
        items += 1
        if match:
            written += 3 if match > _LONG_TAG else 2
            matched = True
        else:
            written += 1
        for position in range(place, place + (match or 1)):
            history.add(position)
        place += match or 1
    return written if written < most else None


_SLOTS = ((128, 512), (256, 1024), (512, 2048), (1024, 4096))
"""The number of hash values by the size of the input."""


class _History:
    """The last positions by the hash of what begins there; newest first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        size = len(data)
        self.mask = next((slots for least, slots in _SLOTS if size < least), 8192) - 1
        self.chains: dict[int, list[int]] = {}

    def _hash(self, place: int) -> int:
        data = self.data
        if len(data) - place < 4:
            return data[place] & self.mask
        return (data[place] << 6 ^ data[place + 1] << 4 ^ data[place + 2] << 2 ^ data[place + 3]) & self.mask

    def add(self, place: int) -> None:
        self.chains.setdefault(self._hash(place), []).append(place)

    def longest_match(self, place: int) -> int:
        """The length of the match that is taken at a place, 0 for none (pglz_find_match)."""
        data, end = self.data, len(self.data)
        chain = self.chains.get(self._hash(place))
        if not chain:
            return 0
        best, good = 0, _GOOD_MATCH
        limit = min(_LONGEST_MATCH, end - place)
        for number in range(len(chain) - 1, -1, -1):
            earlier = chain[number]
            if place - earlier >= _FARTHEST or place - earlier > _HISTORY:
                break
            length = 0
            if best < 16 or data[place : place + best] == data[earlier : earlier + best]:
                length = best if best >= 16 else 0
                while length < limit and data[place + length] == data[earlier + length]:
                    length += 1
            best = max(best, length)
            if number:
                following = chain[number - 1]
                if place - following > _HISTORY:
                    break
                if best >= good:
                    break
                good -= good * _DROP // 100
        return best if best > 2 else 0


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
