"""The messages of a stream with what their place in it adds: the transaction, and the relation of a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

from pubcheck.stream import messages as wire
from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.framing.frame import Frame

Matcher: TypeAlias = Callable[[wire.Insert | wire.Update | wire.Delete], wire.Relation | None]
"""Returns the relation of a change that the stream has not described, or None."""

TypeNamer: TypeAlias = Callable[[int, int], str | None]
"""Returns the name of a built-in type with its modifier, or None."""


class Event(Struct, frozen=True):
    """A message. ``xid`` is its top-level transaction and ``commit_time`` that of it, as far as they are known.

    ``relations`` describes the relations of a change by OID; one that is unknown is missing.
    """

    frame: Frame
    message: wire.AnyMessage
    xid: int | None
    commit_time: int | None
    relations: Mapping[int, wire.Relation]


class Events:
    """Decodes frames. Raises Malformed like `Decoder.decode`."""

    def __init__(
        self, streaming: Streaming | None = None, match: Matcher | None = None, type_name: TypeNamer | None = None
    ) -> None:
        self._decoder = Decoder(streaming)
        self._match = match
        self._type_name = type_name
        self._types: dict[int, str] = {}
        self._matched: dict[int, wire.Relation | None] = {}
        self._xid: int | None = None
        self._commit_time: int | None = None

    def event(self, frame: Frame) -> Event:
        """Return the event of a frame. Raises Malformed."""
        message = self._decoder.decode(frame.data)
        if isinstance(message, wire.Begin):
            self._xid, self._commit_time = message.xid, message.commit_time
        elif isinstance(message, wire.StreamStart | wire.BeginPrepare):
            self._xid, self._commit_time = message.xid, None
        elif isinstance(message, wire.Type):
            self._types[message.oid] = f"{message.namespace}.{message.name}" if message.namespace else message.name
        xid = self._xid
        if xid is None:
            xid = frame.xid if frame.xid is not None else getattr(message, "xid", None)
        event = Event(frame, message, xid, self._commit_time, self._relations(message))
        if isinstance(message, wire.Commit | wire.Prepare | wire.StreamStop):
            self._xid = self._commit_time = None
        return event

    def type_name(self, oid: int, modifier: int) -> str:
        """Return the name of a type: of one that a Type message described, a built-in one, or else its OID."""
        name = self._types.get(oid)
        if name is None and self._type_name is not None:
            name = self._type_name(oid, modifier)
        return f"type {oid}" if name is None else name

    def _relations(self, message: wire.AnyMessage) -> Mapping[int, wire.Relation]:
        if isinstance(message, wire.Insert | wire.Update | wire.Delete):
            oids: tuple[int, ...] = (message.relation,)
        else:
            oids = getattr(message, "relations", ())
        relations = {oid: relation for oid in oids if (relation := self._decoder.relation(oid)) is not None}
        if not relations and self._match is not None and isinstance(message, wire.Insert | wire.Update | wire.Delete):
            self._matched[message.relation] = self._match(message)
        for oid in oids:
            matched = self._matched.get(oid)
            if matched is not None:
                relations.setdefault(oid, matched)
        return relations


def relation_name(relation: wire.Relation) -> str:
    """Return the name of a relation with its schema."""
    return f"{relation.namespace or 'pg_catalog'}.{relation.name}"
