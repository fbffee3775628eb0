"""Output of arrays, int2vector and oidvector (utils/adt/arrayfuncs.c, int.c, oid.c)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from pubcheck.postgres import oids
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.output.dispatch import OutputContext, Sender, TypeOutput, Writer

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
