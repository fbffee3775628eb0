"""Output of arrays, int2vector and oidvector (utils/adt/arrayfuncs.c, int.c, oid.c), composite types (rowtypes.c),
enums (enum.c), ranges (rangetypes.c) and multiranges (multirangetypes.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import Array, Range
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.output import OutputContext, Sender, TypeOutput, Writer, encoder

_SPECIAL = {mark: re.compile(rf'[{{}}"\\{mark} \t\n\r\v\f]') for mark in ",;"}


def quoted_element(text: str, mark: str = ",") -> str:
    """An element between delimiters, in quotes where it needs them."""
    if text and not _SPECIAL[mark].search(text) and text.lower() != "null":
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _writer(context: OutputContext, element: int) -> Writer:
    write, mark = context.writer(element), ";" if element == oids.BOX else ","

    def item(value: object) -> str:
        return "NULL" if value is None else quoted_element(write(value), mark)

    def out(array: Array) -> str:
        if not array.elements:
            return "{}"
        items = list(map(item, array.elements))
        for length in reversed(array.lengths[1:]):
            items = [f"{{{mark.join(items[start : start + length])}}}" for start in range(0, len(items), length)]
        body = f"{{{mark.join(items)}}}"
        if any(lower != 1 for lower in array.lowers):
            pairs = zip(array.lowers, array.lengths, strict=True)
            return "".join(f"[{lower}:{lower + length - 1}]" for lower, length in pairs) + "=" + body
        return body

    return out


def _sender(context: OutputContext, element: int) -> Sender:
    send = context.sender(element)

    def parts(array: Array) -> Iterator[bytes]:
        yield struct.pack(">iiI", len(array.lengths), None in array.elements, element)
        for length, lower in zip(array.lengths, array.lowers, strict=True):
            yield struct.pack(">ii", length, lower)
        for value in array.elements:
            if value is None:
                yield b"\xff\xff\xff\xff"
            else:
                data = send(value)
                yield len(data).to_bytes(4, "big")
                yield data

    return lambda array: b"".join(parts(array))


ARRAY = TypeOutput(_writer, _sender)


def _vector(array: Array) -> str:
    if None in array.elements:
        raise Unknowable("a vector with NULL in it")
    return " ".join(map(str, array.elements))


INT2VECTOR = TypeOutput(lambda context, type_oid: _vector, lambda context, type_oid: _sender(context, oids.INT2))
OIDVECTOR = TypeOutput(lambda context, type_oid: _vector, lambda context, type_oid: _sender(context, oids.OID))


# Enums.


def _enum_writer(context: OutputContext, row: Type) -> Writer:
    def out(label: str) -> str:
        if label not in row.labels:
            raise Unknowable("a label that was renamed")  # the server's value is the label's oid
        return label

    return out


def _enum_sender(context: OutputContext, row: Type) -> Sender:
    write, encode = _enum_writer(context, row), encoder(context)
    return lambda label: encode(write(label))


# Composite types.

_SPECIAL_IN_RECORD = re.compile(r'["\\(), \t\n\v\f\r]')


def _types(context: OutputContext, row: Type) -> tuple[int, ...]:
    """The types of the fields, which the server looks up for each row: of none, they may be unknown."""
    return tuple(column.type for column in context.cache.fields(row.oid) if not column.dropped)


def _record_writer(context: OutputContext, row: Type) -> Writer:
    def out(values: tuple[Any, ...]) -> str:
        pairs = zip(map(context.writer, _types(context, row)), values, strict=True)
        texts = ["" if value is None else _quoted(write(value), _SPECIAL_IN_RECORD) for write, value in pairs]
        return f"({','.join(texts)})"

    return out


def _quoted(text: str, special: re.Pattern[str]) -> str:
    """A field or bound: quotes and backslashes are doubled."""
    if text and not special.search(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


def _record_sender(context: OutputContext, row: Type) -> Sender:
    def parts(values: tuple[Any, ...]) -> Iterator[bytes]:
        yield struct.pack(">i", len(values))
        for oid, value in zip(_types(context, row), values, strict=True):
            yield struct.pack(">I", oid)
            yield b"\xff\xff\xff\xff" if value is None else _counted(context.sender(oid)(value))

    return lambda values: b"".join(parts(values))


def _counted(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


# Ranges.

_SPECIAL_IN_RANGE = re.compile(r'["\\()\[\], \t\n\v\f\r]')
_EMPTY, _LOWER_IN, _UPPER_IN, _NO_LOWER, _NO_UPPER = 0x01, 0x02, 0x04, 0x08, 0x10


def _range_writer(context: OutputContext, row: Type) -> Writer:
    write = context.writer(row.base)

    def bound(value: Any) -> str:
        return "" if value is None else _quoted(write(value), _SPECIAL_IN_RANGE)

    def out(value: Range) -> str:
        if value.empty:
            return "empty"
        opening, closing = "[" if value.lower_in else "(", "]" if value.upper_in else ")"
        return f"{opening}{bound(value.lower)},{bound(value.upper)}{closing}"

    return out


def _range_sender(context: OutputContext, row: Type) -> Sender:
    send = context.sender(row.base)

    def out(value: Range) -> bytes:
        if value.empty:
            return bytes((_EMPTY,))
        flags = (_LOWER_IN if value.lower_in else 0) | (_UPPER_IN if value.upper_in else 0)
        flags |= (_NO_LOWER if value.lower is None else 0) | (_NO_UPPER if value.upper is None else 0)
        bounds = [_counted(send(bound)) for bound in (value.lower, value.upper) if bound is not None]
        return bytes((flags,)) + b"".join(bounds)

    return out


def _multirange_writer(context: OutputContext, row: Type) -> Writer:
    write = context.writer(row.base)
    return lambda ranges: f"{{{','.join(map(write, ranges))}}}"


def _multirange_sender(context: OutputContext, row: Type) -> Sender:
    send = context.sender(row.base)
    return lambda ranges: struct.pack(">i", len(ranges)) + b"".join(_counted(send(value)) for value in ranges)


ENUM, RECORD = TypeOutput(_enum_writer, _enum_sender), TypeOutput(_record_writer, _record_sender)
RANGE, MULTIRANGE = TypeOutput(_range_writer, _range_sender), TypeOutput(_multirange_writer, _multirange_sender)
