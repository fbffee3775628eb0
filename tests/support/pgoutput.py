"""Messages of the output plugin pgoutput as text, one line a message (PostgreSQL documentation, Logical Replication
Message Formats). Protocol version 1: no streaming, no two-phase."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

LONGEST = 60
"""Characters of a value that are shown; of a longer one the beginning and its length."""


class _Relation(Struct, frozen=True):
    name: str
    identity: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class _Reader:
    """Takes a message apart from the left."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, layout: str) -> Any:
        """One number in network order, by its struct letter."""
        (value,) = struct.unpack_from("!" + layout, self._data, self._at)
        self._at += struct.calcsize("!" + layout)
        return value

    def char(self) -> str:
        return str(self.take("c").decode())

    def text(self) -> str:
        end = self._data.index(0, self._at)
        value, self._at = self._data[self._at : end].decode(), end + 1
        return value

    def values(self) -> list[str]:
        return [self._value() for _ in range(self.take("h"))]

    def _value(self) -> str:
        kind = self.char()
        if kind == "n":
            return "NULL"
        if kind == "u":
            return "<unchanged toast>"
        length = self.take("i")
        value, self._at = self._data[self._at : self._at + length].decode(), self._at + length
        return value if len(value) <= LONGEST else f"{value[:10]}...({len(value)})"


def describe(messages: Iterable[bytes], relations: bool = False) -> list[str]:
    """The row changes and truncations in order; with ``relations`` also how the relations were announced.

    ``oldK``/``K`` is a row by its key columns (the others are NULL), ``oldO``/``O`` a whole old row.
    """
    known: dict[int, _Relation] = {}
    lines: list[str] = []
    for data in messages:
        message = _Reader(data)
        kind = message.char()
        if kind == "R":
            oid, relation = _relation(message)
            known[oid] = relation
            if relations:
                columns, key = ",".join(relation.columns), ",".join(relation.key)
                lines.append(f"RELATION {relation.name} ident={relation.identity} cols=({columns}) key=({key})")
        elif kind in "IUD":
            lines.append(_change(kind, message, known[message.take("I")]))
        elif kind == "T":
            count, _ = message.take("i"), message.take("b")
            lines.append("TRUNCATE " + ", ".join(known[message.take("I")].name for _ in range(count)))
    return lines


def _relation(message: _Reader) -> tuple[int, _Relation]:
    oid = message.take("I")
    schema, name, identity = message.text() or "pg_catalog", message.text(), message.char()
    columns, key = [], []
    for _ in range(message.take("h")):
        flags, column, _, _ = message.take("b"), message.text(), message.take("I"), message.take("i")
        columns.append(column)
        if flags & 1:
            key.append(column)
    return oid, _Relation(f"{schema}.{name}", identity, tuple(columns), tuple(key))


def _change(kind: str, message: _Reader, relation: _Relation) -> str:
    def row() -> str:
        pairs = zip(relation.columns, message.values(), strict=True)
        return "(" + ", ".join(f"{name}={value}" for name, value in pairs) + ")"

    part = message.char()
    if kind == "I":
        return f"INSERT {relation.name} {row()}"
    if kind == "D":
        return f"DELETE {relation.name} {part}{row()}"
    old = ""
    if part != "N":
        old = f"old{part}{row()} "
        message.char()
    return f"UPDATE {relation.name} {old}new{row()}"
