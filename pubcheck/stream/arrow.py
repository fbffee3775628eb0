"""Insert, Update and Delete messages of a whole Arrow batch, taken apart with numpy.

A batch has the messages of one relation in one version: the same columns. Lengths and kinds of a column's values are
read for all rows at once, which is several times as fast as decoding message by message. A row that is not plain (cut
short, binary values, text that is not UTF-8) is left to the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
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

    def letters(self, at: Integers) -> NDArray[np.uint8]:
        """Return the bytes at these offsets, 0 beyond the end."""
        return self.buffer[np.minimum(at, self._end)]

    def int16(self, at: Integers) -> Integers:
        """Return the numbers of two bytes at these offsets."""
        return self._int16[np.minimum(at, self._end)].astype(np.int64)

    def int32(self, at: Integers) -> Integers:
        """Return the numbers of four bytes at these offsets."""
        return self._int32[np.minimum(at, self._end)].astype(np.int64)


class Rows(Struct, frozen=True):
    """The tuples of several messages, all with the same columns. The arrays have a row a message, a column a value:
    the value's letter, and where its text begins in the buffer and how long it is."""

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
    for each message, of which those marked in ``has_old`` and ``has_new`` count. ``whole`` marks the old rows that are
    whole (O), not only keys (K)."""

    plain: Mask
    old: Rows
    new: Rows
    has_old: Mask
    has_new: Mask
    whole: Mask

    def select(self, rows: Mask) -> Changes:
        """Return some of the changes."""
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
    at = messages.starts[chosen] + 5 + 4 * in_block
    ends = messages.ends[chosen]
    kinds = messages.letters(messages.starts[chosen])
    letters = messages.letters(at)
    has_old = (letters == _KEY) | (letters == _OLD)
    old, behind, plain = _split_rows(messages, at + 1, ends, columns, has_old)
    at = np.where(has_old, behind, at)
    has_new = kinds != ord("D")
    plain &= ~has_new | (messages.letters(at) == _NEW)
    plain &= has_old | (kinds != ord("D"))
    plain &= ~has_old | (kinds != ord("I"))
    new, behind, fits = _split_rows(messages, at + 1, ends, columns, has_new)
    plain &= fits & (np.where(has_new, behind, at) == ends)
    return Changes(plain, old, new, has_old, has_new, letters == _OLD)


def _split_rows(
    messages: Messages, at: Integers, ends: Integers, columns: int, present: Mask
) -> tuple[Rows, Integers, Mask]:
    """Return the rows at these offsets, the offsets behind them, and which of them are plain. Rows that are not
    ``present`` are plain and mean nothing."""
    plain = ~present | (messages.int16(at) == columns)
    shape = (len(at), columns)
    rows = Rows(np.zeros(shape, np.uint8), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    at = at + 2
    for column in range(columns if present.any() else 0):
        letters = messages.letters(at)
        text = letters == _TEXT
        lengths = np.where(text, messages.int32(at + 1), 0)
        plain &= ~present | text | (letters == _NULL) | (letters == _UNCHANGED)
        rows.letters[:, column] = letters
        rows.starts[:, column] = at + 5
        rows.lengths[:, column] = lengths
        at = np.minimum(at + 1 + np.where(text, 4 + lengths, 0), ends + 1)
    return rows, at, plain & (~present | (at <= ends))


def maps(messages: Messages, rows: Rows, names: Sequence[str], present: Mask) -> pa.MapArray:
    """Return each row as a map of column names to texts, without the unchanged values; NULL for rows that are not
    ``present``. Raises pyarrow.ArrowInvalid if a text is not UTF-8."""
    kept = (rows.letters != _UNCHANGED) & present[:, None]
    counts = kept.sum(axis=1)
    flat = kept.ravel()
    values = _texts(messages.buffer, rows.starts.ravel()[flat], rows.lengths.ravel()[flat], rows.letters.ravel()[flat])
    offsets = np.zeros(len(present) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.MapArray.from_arrays(
        pa.array(offsets, mask=None), _repeated(names, kept), values, mask=pa.array(~present)
    )


def unchanged(rows: Rows, names: Sequence[str], present: Mask) -> pa.ListArray:
    """Return for each row the names of the columns whose values were not sent, because they did not change."""
    kept = (rows.letters == _UNCHANGED) & present[:, None]
    offsets = np.zeros(len(present) + 1, np.int32)
    np.cumsum(kept.sum(axis=1), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), _repeated(names, kept))


def _repeated(names: Sequence[str], kept: Mask) -> pa.StringArray:
    """Return the column's name for each kept value, row by row."""
    encoded = [name.encode() for name in names]
    lengths = np.array([len(name) for name in encoded], np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])) if encoded else lengths
    buffer = np.frombuffer(b"".join(encoded), np.uint8)
    if kept.all():
        offsets = np.zeros(kept.size + 1, np.int32)
        np.cumsum(np.tile(lengths, len(kept)), out=offsets[1:])
        return _string_array(offsets, np.tile(buffer, len(kept)))
    numbers = np.nonzero(kept)[1]
    return _gathered(buffer, starts[numbers], lengths[numbers])


def _texts(
    buffer: NDArray[np.uint8], starts: Integers, lengths: Integers, letters: NDArray[np.uint8]
) -> pa.StringArray:
    texts = _gathered(buffer, starts, lengths, letters == _NULL)
    texts.validate(full=True)
    return texts


def _gathered(
    buffer: NDArray[np.uint8], starts: Integers, lengths: Integers, null: Mask | None = None
) -> pa.StringArray:
    """Return the pieces of a buffer as texts."""
    offsets = np.zeros(len(starts) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    index = np.repeat((starts - offsets[:-1]).astype(np.int32), lengths)
    index += np.arange(len(index), dtype=np.int32)
    return _string_array(offsets, buffer[index], null)


def _string_array(offsets: NDArray[np.int32], buffer: NDArray[np.uint8], null: Mask | None = None) -> pa.StringArray:
    valid = None
    if null is not None and null.any():
        valid = pa.py_buffer(np.packbits(~null, bitorder="little").tobytes())
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer), valid)
