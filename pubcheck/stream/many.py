"""Reads the changes among messages that follow each other. All of their rows are read at once, as `whole` reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress, repeat
from operator import call, itemgetter
from typing import Final, TypeAlias

from pubcheck.stream.messages import Delete, Insert, Row, Update
from pubcheck.stream.readers import OLD_KINDS, number_at
from pubcheck.stream.whole import LONG, text_rows

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


class _Heads(dict[bytes, "_FromRow | None"]):
    """By the letter of a message, the OID, and the kind of row: the function that makes the change of its row. None for
    messages that are not changes, or that have two rows."""

    def __missing__(self, head: bytes) -> _FromRow | None:
        if len(head) < _HEAD:
            return None
        if len(self) >= _MOST_HEADS:
            self.clear()
        make = self[head] = _from_row(head)
        return make


def _from_row(head: bytes) -> _FromRow | None:
    (relation,) = number_at(head, 1)
    old_kind = OLD_KINDS.get(head[5])
    if head[:1] == b"D" and old_kind is not None:
        return lambda row: Delete(relation, row, old_kind)
    kind = _WITH_NEW_ROW.get(head[:1] + head[5:])
    return None if kind is None else partial(kind, relation)


_from_row_by_head = _Heads().__getitem__


def usual_changes(messages: Sequence[bytes]) -> Sequence[Change | None]:
    """Return for each message outside streamed blocks the change that it is, or None if it has to be read by itself: an
    Update with an old row, or another message. Return nothing if all of them have to, as if a row is not usual."""
    alike = alike_changes(messages)
    return mixed_changes(messages) if alike is None else alike


def alike_changes(messages: Sequence[bytes]) -> Sequence[Change] | None:
    """Return messages outside streamed blocks that are all changes of one kind of one relation, and nothing if a row is
    not usual. Return None for other messages."""
    head = messages[0][:_HEAD]
    make = _from_row_by_head(head)
    if make is None or not messages[-1].startswith(head):
        return None
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
    rows = text_rows(list(map(_row_of, compress(messages, makers))))
    if rows is None:
        return ()
    changes = map(call, filter(None, makers), rows)
    return [make and next(changes) for make in makers]


def _makers(messages: Sequence[bytes]) -> list[_FromRow | None]:
    return list(map(_from_row_by_head, map(_head_of, messages)))
