"""The bytes of messages: as lines that `read` reads again, and field by field."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.stream.fields import fields
from pubcheck.stream.lsn import format_lsn
from pubcheck.stream.messages import Delete, Insert, Message, Relation, Truncate, Type, Update
from pubcheck.stream.render.events import Event, Events

_IN_BLOCK = (Relation, Type, Insert, Update, Delete, Truncate, Message)
_WIDTH = 12
"""Bytes in a line of the annotated dump."""


def render_hex(event: Event, events: Events) -> Iterator[str]:
    """Yield position, transaction and bytes, with tabs between them; only the bytes if neither is known."""
    lsn, xid, data, _ = event.frame
    if lsn is None and event.xid is None:
        yield f"{data.hex()}\n"
    else:
        shown = xid if xid is not None else event.xid
        yield f"{format_lsn(lsn or 0)}\t{0 if shown is None else shown}\t{data.hex()}\n"


def render_fields(event: Event, events: Events) -> Iterator[str]:
    """Yield the bytes of each field, its name and its value."""
    in_block = isinstance(event.message, _IN_BLOCK) and event.message.xid is not None
    yield from dump(event.frame.data, in_block=in_block)
    yield "\n"


def dump(data: bytes, *, in_block: bool = False) -> Iterator[str]:
    """Yield lines with the bytes of each field of a message, its name and its value."""
    for field in fields(data, in_block=in_block):
        content = data[field.start : field.end]
        for start in range(0, max(1, len(content)), _WIDTH):
            shown = content[start : start + _WIDTH].hex(" ")
            yield f"{shown:<{3 * _WIDTH}} {f'{field.name:<24} {field.value}' if start == 0 else ''}".rstrip() + "\n"
