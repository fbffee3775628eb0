"""Which streamed block is open, and which Relation messages hold, at any message of a stream.

The rows of a change mean nothing without the Relation message before it, and its transaction ID is there only within a
streamed block. A decoder that reads a stream from its start remembers both. A job that reads parts of a stream at the
same time asks a timeline, which is made of the few messages that change them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.messages import Malformed, Relation, StreamAbort, StreamCommit, StreamPrepare, StreamStart

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
