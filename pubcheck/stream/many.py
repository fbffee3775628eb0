"""Reads the changes among messages that follow each other. All of their rows are read at once, as `whole` reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import compress, repeat
from operator import call, itemgetter
from typing import Final, TypeAlias

from pubcheck.stream.messages import Delete, Insert, Row, Update
from pubcheck.stream.readers import FAULTS, OLD_KINDS, number_at
from pubcheck.stream.whole import LONG, read_update, text_rows

Change: TypeAlias = Insert | Update | Delete
_FromRow: TypeAlias = Callable[[Row], Change]

AT_ONCE: Final = 128
"""Messages that are best read at once. More of them need memory that is not in the processor's cache."""
_MOST_HEADS = 4096
_WITH_NEW_ROW: Mapping[bytes, type[Insert] | type[Update]] = {b"IN": Insert, b"UN": Update}
_SAMPLE = 16
_USUAL_LENGTH = 256
"""Longer messages are read faster one by one, because nobody searches their texts then."""
_HEAD = 6
_head_of = itemgetter(slice(_HEAD))
_row_of = itemgetter(slice(_HEAD, None))


class _TwoRows(Enum):
    """An Update with an old row has no function that makes it of one row."""

    TWO_ROWS = True


_TWO_ROWS = _TwoRows.TWO_ROWS
_Maker: TypeAlias = "_FromRow | _TwoRows | None"


class _Heads(dict[bytes, _Maker]):
    """By the letter of a message, the OID, and the kind of row: the function that makes the change of its row. None for
    messages that are not changes."""

    def __missing__(self, head: bytes) -> _Maker:
        if len(head) < _HEAD:
            return None
        if len(self) >= _MOST_HEADS:
            self.clear()
        make = self[head] = _from_row(head)
        return make


def _from_row(head: bytes) -> _Maker:
    (relation,) = number_at(head, 1)
    old_kind = OLD_KINDS.get(head[5])
    if head[:1] == b"D" and old_kind is not None:
        return lambda row: Delete(relation, row, old_kind)
    if head[:1] == b"U" and old_kind is not None:
        return _TWO_ROWS
    kind = _WITH_NEW_ROW.get(head[:1] + head[5:])
    return None if kind is None else partial(kind, relation)


_from_row_by_head = _Heads().__getitem__


def usual_changes(messages: Sequence[bytes]) -> Sequence[Change | None]:
    """Return for each message outside streamed blocks the change that it is, or None for another message. Return
    nothing if all of them have to be read one by one, as if a row is not usual."""
    alike = alike_changes(messages)
    return mixed_changes(messages) if alike is None else alike


def alike_changes(messages: Sequence[bytes]) -> Sequence[Change] | None:
    """Return messages outside streamed blocks that are all changes of one kind of one relation, and nothing if a row is
    not usual. Return None for other messages."""
    head = messages[0][:_HEAD]
    make = _from_row_by_head(head)
    if make is None or not messages[-1].startswith(head):
        return None
    if make is _TWO_ROWS:
        return _updates(messages) if {*map(_head_of, messages)} == {head} else None
    data = list(map(bytes.removeprefix, messages, repeat(head)))
    size = len(b"".join(data))
    if len(b"".join(messages)) - size != _HEAD * len(data):
        return None
    if size > LONG * len(data) * (int.from_bytes(data[0][:2]) + 1):
        return ()
    rows = text_rows(data)
    return () if rows is None else list(map(make, rows))


def mixed_changes(messages: Sequence[bytes]) -> Sequence[Change | None]:
    """Return what `usual_changes` returns, for messages that are not alike."""
    makers = _makers(messages[:_SAMPLE])
    if 2 * makers.count(None) > len(makers) or sum(map(len, messages)) > _USUAL_LENGTH * len(messages):
        return ()
    makers += _makers(messages[_SAMPLE:])
    if _TWO_ROWS in makers:
        return _changes_and_updates(messages, makers)
    return _changes(messages, makers)  # type: ignore[arg-type]


def _changes(messages: Sequence[bytes], makers: Sequence[_FromRow | None]) -> Sequence[Change | None]:
    rows = text_rows(list(map(_row_of, compress(messages, makers))))
    if rows is None:
        return ()
    changes = map(call, filter(None, makers), rows)
    return [make and next(changes) for make in makers]


def _changes_and_updates(messages: Sequence[bytes], makers: Sequence[_Maker]) -> Sequence[Change | None]:
    """Return the changes of some messages, among which are Updates with an old row."""
    others = [None if make is _TWO_ROWS else make for make in makers]
    changes = _changes(messages, others) if any(others) else [None] * len(makers)
    updates = iter(_updates([message for message, make in zip(messages, makers, strict=True) if make is _TWO_ROWS]))
    try:
        return [next(updates) if make is _TWO_ROWS else change for make, change in zip(makers, changes, strict=True)]
    except (ValueError, StopIteration):
        return ()


def _updates(messages: Sequence[bytes]) -> Sequence[Update]:
    """Return the Updates with an old row that some messages are; nothing if one is malformed."""
    try:
        return list(map(read_update, messages))
    except FAULTS:
        return ()


def _makers(messages: Sequence[bytes]) -> list[_Maker]:
    return list(map(_from_row_by_head, map(_head_of, messages)))
