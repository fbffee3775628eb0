"""Insert, Update and Delete messages of a whole Arrow batch, taken apart with numpy.

A batch has the messages of one relation in one version: the same columns. Lengths and kinds of a column's values are
read for all rows at once, which is several times as fast as decoding message by message. A row that is not plain (cut
short, binary values, text that is not UTF-8) is left to the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

_NULL, _UNCHANGED, _TEXT = b"nut"
_NEW, _KEY, _OLD = b"NKO"
_PADDING = 8
CHANGES: Final = frozenset(b"IUD")
"""The kinds of message that hold rows."""


class Messages:
    """The bytes of a batch of messages. ``starts`` and ``ends`` are offsets into ``buffer``, by row."""

    def __init__(self, data: pa.LargeBinaryArray) -> None:
        """``data`` has no NULL."""
        offsets = np.frombuffer(data.buffers()[1], np.int64)[data.offset : data.offset + len(data) + 1]
        content = np.frombuffer(data.buffers()[2] or b"", np.uint8)
        # Nothing behind the end needs to be asked for: zeros follow.
        self.buffer = np.concatenate((content, np.zeros(_PADDING, np.uint8)))
        self.starts: Integers = offsets[:-1]
        self.ends: Integers = offsets[1:]
        # Views of the big-endian integers that begin at each byte.
        size = len(content) + 1
        self._int16 = np.ndarray((size,), ">u2", self.buffer.data, strides=(1,))
        self._int32 = np.ndarray((size,), ">u4", self.buffer.data, strides=(1,))
        self._end = len(content)

    def kinds(self) -> NDArray[np.uint8]:
        """Return the first byte of each message, 0 for an empty one."""
        return np.where(self.starts < self.ends, self.letters(self.starts), 0).astype(np.uint8)

    def letters(self, offsets: Integers) -> NDArray[np.uint8]:
        """Return the bytes at these offsets, 0 beyond the end."""
        return self.buffer[np.minimum(offsets, self._end)]

    def int16(self, offsets: Integers) -> Integers:
        """Return the numbers of two bytes at these offsets."""
        return self._int16[np.minimum(offsets, self._end)].astype(np.int64)

    def int32(self, offsets: Integers) -> Integers:
        """Return the numbers of four bytes at these offsets."""
        return self._int32[np.minimum(offsets, self._end)].astype(np.int64)


class Rows(Struct, frozen=True):
    """The tuples of several messages, all with the same columns. The arrays have a row a message, a column a value:
    the value's letter, and where its text begins in the buffer and how long it is (0 for other letters)."""

    letters: NDArray[np.uint8]
    starts: Integers
    lengths: Integers

    def select(self, rows: Mask) -> Rows:
        """Return some of the rows."""
        return Rows(self.letters[rows], self.starts[rows], self.lengths[rows])

    def columns(self, numbers: Sequence[int]) -> Rows:
        """Return some of the columns."""
        if len(numbers) == self.letters.shape[1]:
            return self
        chosen = list(numbers)
        return Rows(self.letters[:, chosen], self.starts[:, chosen], self.lengths[:, chosen])


class Changes(Struct, frozen=True):
    """What `split_changes` returns. ``plain`` marks the messages that were taken apart; ``old`` and ``new`` have a row
    for each message; only the rows marked in ``has_old`` and ``has_new`` count. ``whole`` marks the old rows that are
    whole (O), not only keys (K)."""

    plain: Mask
    old: Rows
    new: Rows
    has_old: Mask
    has_new: Mask
    whole: Mask

    def select(self, rows: Mask) -> Changes:
        """Return some of the changes."""
        if rows.all():
            return self
        return Changes(
            self.plain[rows],
            self.old.select(rows),
            self.new.select(rows),
            self.has_old[rows],
            self.has_new[rows],
            self.whole[rows],
        )


def split_changes(messages: Messages, chosen: Integers, columns: int, in_block: Mask) -> Changes:
    """Take apart Insert, Update and Delete messages of one relation.

    ``chosen`` are the numbers of the messages, ``columns`` how many columns the relation has, ``in_block`` says for
    each chosen message whether a transaction ID precedes the relation's OID.
    """
    offsets = messages.starts[chosen] + 5 + 4 * in_block
    ends = messages.ends[chosen]
    kinds = messages.letters(messages.starts[chosen])
    letters = messages.letters(offsets)
    has_old = (letters == _KEY) | (letters == _OLD)
    old, behind, plain = _split_rows(messages, offsets + 1, ends, columns, has_old)
    offsets = np.where(has_old, behind, offsets)
    has_new = kinds != ord("D")
    plain &= ~has_new | (messages.letters(offsets) == _NEW)
    plain &= has_old | (kinds != ord("D"))
    plain &= ~has_old | (kinds != ord("I"))
    new, behind, fits = _split_rows(messages, offsets + 1, ends, columns, has_new)
    plain &= fits & (np.where(has_new, behind, offsets) == ends)
    return Changes(plain, old, new, has_old, has_new, letters == _OLD)


def _split_rows(
    messages: Messages, offsets: Integers, ends: Integers, columns: int, present: Mask
) -> tuple[Rows, Integers, Mask]:
    """Return the rows at these offsets, the offsets behind them, and which of them are plain. Rows that are not
    ``present`` are plain and mean nothing."""
    plain = ~present | (messages.int16(offsets) == columns)
    shape = (len(offsets), columns)
    rows = Rows(np.zeros(shape, np.uint8), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    offsets = offsets + 2
    for column in range(columns if present.any() else 0):
        letters = messages.letters(offsets)
        text = letters == _TEXT
        lengths = messages.int32(offsets + 1)
        if text.all():
            starts = offsets + 5
        else:
            starts = offsets + np.where(text, 5, 1)
            lengths = np.where(text, lengths, 0)
            plain &= ~present | text | (letters == _NULL) | (letters == _UNCHANGED)
        rows.letters[:, column] = letters
        rows.starts[:, column] = starts
        rows.lengths[:, column] = lengths
        offsets = starts + lengths
    return rows, offsets, plain & (~present | (offsets <= ends))


def maps(messages: Messages, rows: Rows, names: Sequence[str], present: Mask) -> pa.MapArray:
    """Return each row as a map of column names to texts, without the unchanged values; NULL for rows that are not
    ``present``. Raises pyarrow.ArrowInvalid if a text is not UTF-8."""
    if not present.any():
        return pa.nulls(len(present), pa.map_(pa.string(), pa.string()))
    kept = (rows.letters != _UNCHANGED) & present[:, None]
    texts = _texts(messages, rows, kept)
    return pa.MapArray.from_arrays(_offsets(kept), _column_names(names, kept), texts, mask=pa.array(~present))


def unchanged(rows: Rows, names: Sequence[str], present: Mask) -> pa.ListArray:
    """Return for each row the names of the columns whose values were not sent, because they did not change."""
    kept = (rows.letters == _UNCHANGED) & present[:, None]
    if not kept.any():
        return pa.ListArray.from_arrays(pa.array(np.zeros(len(kept) + 1, np.int32)), pa.array([], pa.string()))
    return pa.ListArray.from_arrays(_offsets(kept), _column_names(names, kept))


def _offsets(kept: Mask) -> pa.Int32Array:
    """Return where the kept values of each row begin among all of them, and where the last end."""
    if kept.all():
        return pa.array(np.arange(0, kept.size + 1, kept.shape[1], dtype=np.int32))
    offsets = np.zeros(len(kept) + 1, np.int32)
    np.cumsum(kept.sum(axis=1), out=offsets[1:])
    return pa.array(offsets)


def _column_names(names: Sequence[str], kept: Mask) -> pa.StringArray:
    """Return the column's name for each kept value, row by row."""
    if kept.all():
        return _names_of_rows(tuple(names), _power_of_2(len(kept))).slice(0, kept.size)
    return pa.array(names, pa.string()).take(pa.array(np.nonzero(kept)[1]))


def _power_of_2(number: int) -> int:
    """Return the power of 2 that is not less than a number: a few arrays of such lengths serve batches of any."""
    return 1 << max(number - 1, 0).bit_length()


@lru_cache(maxsize=64)
def _names_of_rows(names: tuple[str, ...], rows: int) -> pa.StringArray:
    return pa.array(names, pa.string()).take(pa.array(np.tile(np.arange(len(names)), rows)))


@lru_cache(maxsize=16)
def _even_numbers(count: int) -> Integers:
    return np.arange(0, 2 * count, 2)


def _texts(messages: Messages, rows: Rows, kept: Mask) -> pa.StringArray:
    """Return the kept values, row by row. Raises pyarrow.ArrowInvalid if one is not UTF-8.

    The buffer is cut into the values and what is between them, and the values are taken.
    """
    whole = kept.all()
    starts, lengths, letters = (
        values.ravel() if whole else values[kept] for values in (rows.starts, rows.lengths, rows.letters)
    )
    null = letters == _NULL
    count = len(starts)
    cuts = np.empty(2 * count, np.int64)
    cuts[0::2] = starts
    np.add(starts, lengths, out=cuts[1::2])
    pieces = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), max(2 * count - 1, 0), [None, pa.py_buffer(cuts), pa.py_buffer(messages.buffer)]
    )
    places = pa.array(_even_numbers(_power_of_2(count))[:count], mask=null if null.any() else None)
    return pieces.take(places).cast(pa.string())
