"""The compressed length of a value (common/pg_lzcompress.c). It depends on the matches that pglz finds, so they are
searched for in the same way."""

from __future__ import annotations

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
