"""Bytes to messages.

The rows of a change mean nothing without the Relation message before it, and its transaction ID is there only within a
streamed block. A decoder that reads a stream from its start remembers both. A job that reads parts of a stream at the
same time asks a timeline, which is made of the few messages that change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pubcheck.stream.fields import END, fields, shown
from pubcheck.stream.messages import (
    AnyMessage,
    Malformed,
    Relation,
    Row,
    StreamAbort,
    StreamCommit,
    StreamPrepare,
    StreamStart,
    StreamStop,
    Value,
)
from pubcheck.stream.readers import FAULTS, OTHERS, PREFIXED, Reader, after_xid, long_abort, short_abort
from pubcheck.stream.whole import WholeReader, whole_reader

Streaming: TypeAlias = Literal["off", "on", "parallel"]

_REMEMBERED = frozenset(b"RSEcpA")
_ABORT = ord("A")


def _abort_of_any_length(data: bytes, offset: int) -> tuple[StreamAbort, int]:
    return short_abort(data, offset) if len(data) - offset <= 8 else long_abort(data, offset)


def _abort_reader(streaming: Streaming | None) -> Reader:
    if streaming is None:
        return _abort_of_any_length
    return long_abort if streaming == "parallel" else short_abort


class _State:
    """The readers of each kind of message, by its letter, inside a streamed block or outside: ``whole`` of all of some
    data, ``first`` of their beginning."""

    def __init__(self, streaming: Streaming | None, *, in_block: bool) -> None:
        changes = {kind: after_xid(read) for kind, read in PREFIXED.items()} if in_block else PREFIXED
        self.in_block = in_block
        self.first: Mapping[int, Reader] = {**OTHERS, **changes, _ABORT: _abort_reader(streaming)}  # type: ignore[dict-item]
        self.whole: Mapping[int, WholeReader] = {
            kind: whole_reader(kind, read, in_block=in_block) for kind, read in self.first.items()
        }


_state = cache(_State)


class Decoder:
    """Decodes the messages of one stream, in their order.

    A decoder remembers whether a streamed block is open, because messages inside it carry a transaction ID, and the
    last Relation of each OID. A Relation inside a streamed block counts for its transaction alone until that is
    committed or prepared: the transaction may have altered the table.

    ``streaming`` is the option of that name that the stream was requested with: ``parallel`` makes Stream Abort longer.
    By default its length decides.

    A capture may begin inside a streamed block, or lack the message that begins or ends one. A message that is
    malformed outside a block and correct inside one is therefore read as inside, and the other way round; the verifier
    of the stream checks the order.
    """

    def __init__(self, streaming: Streaming | None = None) -> None:
        self._relations: dict[int, Relation] = {}
        self._streamed: dict[int, dict[int, Relation]] = {}
        self._top: int | None = None
        self._streaming = streaming
        self._outside = _state(streaming, in_block=False)
        self._inside = _state(streaming, in_block=True)
        self._readers = {state: self._readers_of(state) for state in (self._outside, self._inside)}
        self._enter(self._outside)

    @property
    def in_block(self) -> bool:
        """Whether a streamed block is open: the last message was sent between Stream Start and Stream Stop."""
        return self._state.in_block

    def decode(self, data: bytes) -> AnyMessage:
        """Return the message that ``data`` is. Raises Malformed; the next message can be decoded after that."""
        try:
            return self._whole[data[0]](data)
        except FAULTS:
            return self._decode_in_other_state(data)

    def decode_many(self, messages: Iterable[bytes]) -> Iterator[AnyMessage | Malformed]:
        """Return the next messages of the stream, and Malformed in place of each one that is malformed."""
        for data in messages:
            # Calling `decode` would take a tenth longer.
            try:
                yield self._whole[data[0]](data)
            except FAULTS:
                yield self._message_or_fault(data)

    def _message_or_fault(self, data: bytes) -> AnyMessage | Malformed:
        try:
            return self._decode_in_other_state(data)
        except Malformed as malformed:
            return malformed

    def peek(self, data: bytes) -> AnyMessage | None:
        """Return the message that ``data`` would be if it was the next one; None for one that is malformed, or correct
        only on the other side of the border of a streamed block. The decoder stays as it is."""
        try:
            return self._state.whole[data[0]](data)
        except FAULTS:
            return None

    def decode_first(self, data: bytes, offset: int = 0, follower: bytes = b"") -> tuple[AnyMessage, int]:
        """Return the message that begins at an offset of ``data``, and the offset of its end. Raises Malformed.

        This cuts messages out of bytes that hold several of them, without their lengths. ``follower`` is the byte
        after each of them; it may be missing at the end. Without the option ``streaming``, Stream Abort is the short
        one if that is followed so.
        """
        kind = data[offset] if offset < len(data) else -1
        for state in (self._state, self._other_state()) if kind in PREFIXED else (self._state,):
            read = state.first.get(kind, _unknown)
            if read is _abort_of_any_length:
                read = short_abort if _is_followed(data, offset + 9, follower) else long_abort
            try:
                message, end = read(data, offset + 1)
            except FAULTS:
                continue
            if end <= len(data) and _is_followed(data, end, follower):
                self._enter(state)
                if kind in _REMEMBERED:
                    self._remember(message)
                return message, end
        raise self._fault(data[offset:], follower) from None

    def relation(self, oid: int) -> Relation | None:
        """Return the Relation that describes a change in the next message, or None if the stream has not sent it."""
        streamed = None if self._top is None else self._streamed.get(self._top, {}).get(oid)
        return streamed or self._relations.get(oid)

    def row(self, relation: int, row: Row) -> dict[str, Value] | None:
        """Return the values of a row by column name, or None if the stream has not described the relation, or described
        it with another number of columns."""
        description = self.relation(relation)
        if description is None or len(description.columns) != len(row):
            return None
        return {column.name: value for column, value in zip(description.columns, row, strict=True)}

    def _remember(self, message: AnyMessage) -> None:
        if isinstance(message, Relation):
            streamed = None if self._top is None else self._streamed.setdefault(self._top, {})
            (self._relations if streamed is None else streamed)[message.oid] = message
        elif isinstance(message, StreamStart):
            self._enter(self._inside)
            self._top = message.xid
        elif isinstance(message, StreamStop):
            self._enter(self._outside)
            self._top = None
        elif isinstance(message, StreamCommit | StreamPrepare):
            self._relations.update(self._streamed.pop(message.xid, {}))
        elif isinstance(message, StreamAbort) and message.xid == message.subxid:
            self._streamed.pop(message.xid, None)

    def _readers_of(self, state: _State) -> Mapping[int, WholeReader]:
        remembered = {kind: partial(self._decode_remembered, state.whole[kind]) for kind in _REMEMBERED}
        return {**state.whole, **remembered}

    def _decode_remembered(self, read: WholeReader, data: bytes) -> AnyMessage:
        message = read(data)
        self._remember(message)
        return message

    def _enter(self, state: _State) -> None:
        self._state = state
        self._whole = self._readers[state]

    def _other_state(self) -> _State:
        return self._outside if self.in_block else self._inside

    def _decode_in_other_state(self, data: bytes) -> AnyMessage:
        if data[:1] and data[0] in PREFIXED:
            state = self._other_state()
            try:
                message = state.whole[data[0]](data)
            except FAULTS:
                raise self._fault(data) from None
            self._enter(state)
            self._remember(message)
            return message
        raise self._fault(data) from None

    def _fault(self, data: bytes, follower: bytes = b"") -> Malformed:
        try:
            for field in fields(data, in_block=self.in_block, streaming=self._streaming):
                end = field.end
        except Malformed as fault:
            if not follower or fault.expected != END:
                return fault
            end = fault.offset
        return Malformed(end, f"{shown(follower)} after the message", shown(data[end : end + 1]))


def _unknown(data: bytes, offset: int) -> tuple[AnyMessage, int]:
    raise KeyError


def _is_followed(data: bytes, end: int, follower: bytes) -> bool:
    return data.startswith(follower, end) or end == len(data)


Integers: TypeAlias = NDArray[np.int64]

CONTROL = b"RSEcAp"
"""The kinds of message that a timeline is made of."""


class Timeline:
    """The streamed blocks and the Relation messages of one stream, by the ordinals of its messages.

    A Relation message inside a streamed block counts for its transaction alone until that is committed or prepared:
    the transaction may have altered the table, and others do not see that yet.
    """

    def __init__(self, control: Iterable[tuple[int, bytes]], streaming: Streaming | None = None) -> None:
        """``control`` are the messages of the kinds `CONTROL` with their ordinals, in order; malformed ones do not
        count."""
        self._blocks: list[int] = []
        self._tops: list[int] = []
        self._versions: dict[tuple[int, int], tuple[list[int], list[Relation]]] = {}
        self._streamed: dict[int, dict[int, Relation]] = {}
        decoder = Decoder(streaming)
        for ordinal, data in control:
            try:
                message = decoder.decode(data)
            except Malformed:
                continue
            if isinstance(message, Relation):
                top = self._tops[-1] if self._tops else -1
                self._add(ordinal, message, top)
                if top >= 0:
                    self._streamed.setdefault(top, {})[message.oid] = message
            elif isinstance(message, StreamStart):
                self._mark(ordinal + 1, message.xid)
            elif isinstance(message, StreamCommit | StreamPrepare):
                for relation in self._streamed.pop(message.xid, {}).values():
                    self._add(ordinal, relation, -1)
            elif isinstance(message, StreamAbort):
                if message.xid == message.subxid:
                    self._streamed.pop(message.xid, None)
            else:
                self._mark(ordinal, -1)

    def _mark(self, ordinal: int, top: int) -> None:
        self._blocks.append(ordinal)
        self._tops.append(top)

    def _add(self, ordinal: int, relation: Relation, top: int) -> None:
        ordinals, versions = self._versions.setdefault((relation.oid, top), ([], []))
        if not versions or versions[-1] != relation:
            ordinals.append(ordinal)
            versions.append(relation)

    def transactions(self, ordinals: Integers) -> Integers:
        """Return for each message the ID of the transaction in whose streamed block it is, -1 outside of blocks."""
        if not self._blocks:
            return np.full(len(ordinals), -1, np.int64)
        places = np.searchsorted(self._blocks, ordinals, "right") - 1
        return np.where(places >= 0, np.array(self._tops, np.int64)[places], -1)

    def relations(self, oid: int, top: int, ordinals: Integers) -> tuple[list[Relation], Integers]:
        """Return the Relation messages that describe changes of a relation in one streamed transaction (-1 for those
        outside of blocks), and which of them describes the change at each ordinal: -1 for none."""
        chosen = np.full(len(ordinals), -1, np.int64)
        descriptions: list[Relation] = []
        for scope in dict.fromkeys((-1, top)):
            positions, versions = self._versions.get((oid, scope), ([], []))
            places = np.searchsorted(positions, ordinals, "right") - 1
            chosen = np.where(places >= 0, places + len(descriptions), chosen)
            descriptions += versions
        return descriptions, chosen
