"""Output of jsonb and jsonpath (utils/adt/jsonb.c, jsonpath.c), tsvector and tsquery (tsvector.c, tsquery.c), and the
types of contrib's extensions: hstore (hstore_io.c), ltree and lquery (ltree_io.c), citext.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import JSON_NULL
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.input.textsearch import Lexemes, Operand, Query
from pubcheck.postgres.output import OutputContext, Sender, TypeOutput, encoder, text_sender
from pubcheck.postgres.output.numbers import numeric_text


def jsonb_text(value: Any) -> str:
    """jsonb_out."""
    if value is JSON_NULL:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return numeric_text(value)
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(jsonb_text, value)) + "]"
    return "{" + ", ".join(f"{escaped(key)}: {jsonb_text(value[key])}" for key in sorted(value, key=key_order)) + "}"


def key_order(key: str) -> tuple[int, bytes]:
    """lengthCompareJsonbStringValue: shorter keys come first."""
    stored = key.encode(errors="surrogatepass")
    return len(stored), stored


JSONB = TypeOutput(lambda context, type_oid: jsonb_text, text_sender(jsonb_text, b"\1"))
JSONPATH = TypeOutput(lambda context, type_oid: str, text_sender(str, b"\1"))


_WEIGHTS = ("", "C", "B", "A")


def _quoted_lexeme(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _tsvector(value: Lexemes) -> str:
    words = []
    for lexeme, positions in value:
        places = ",".join(f"{position}{_WEIGHTS[weight]}" for position, weight in positions)
        words.append(f"{_quoted_lexeme(lexeme)}:{places}" if places else _quoted_lexeme(lexeme))
    return " ".join(words)


def _tsvector_sender(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)

    def parts(value: Lexemes) -> Iterator[bytes]:
        yield struct.pack(">i", len(value))
        for lexeme, positions in value:
            yield encode(lexeme) + struct.pack(">xH", len(positions))
            yield b"".join(struct.pack(">H", weight << 14 | position) for position, weight in positions)

    return lambda value: b"".join(parts(value))


_PRIORITIES = {"|": 1, "&": 2, "<": 3, "!": 4}


def _operand(operand: Operand) -> str:
    marks = ("*" if operand.prefix else "") + "".join(
        letter for bit, letter in ((8, "A"), (4, "B"), (2, "C"), (1, "D")) if operand.weights & bit
    )
    return _quoted_lexeme(operand.text) + (f":{marks}" if marks else "")


def _infix(query: Query, parent: int, right_of_phrase: bool) -> str:
    """infix."""
    if isinstance(query, Operand):
        return _operand(query)
    priority = _PRIORITIES[query.mark]
    if query.left is None:
        text = "!" + _infix(query.right, priority, False)
        return f"( {text} )" if priority < parent else text
    mark = query.mark
    if mark == "<":
        mark = "<->" if query.distance == 1 else f"<{query.distance}>"
    text = f"{_infix(query.left, priority, False)} {mark} {_infix(query.right, priority, query.mark == '<')}"
    return f"( {text} )" if priority < parent or (query.mark == "<" and right_of_phrase) else text


_CODES = {"!": 1, "&": 2, "|": 3, "<": 4}


def _tsquery_sender(context: OutputContext, type_oid: int) -> Sender:
    encode = encoder(context)

    def items(query: Query) -> Iterator[bytes]:
        """The operator, its right operand, then the left one."""
        if isinstance(query, Operand):
            yield struct.pack(">BBB", 1, query.weights, query.prefix) + encode(query.text) + b"\0"
            return
        distance = struct.pack(">H", query.distance) if query.mark == "<" else b""
        yield bytes((2, _CODES[query.mark])) + distance
        yield from items(query.right)
        if query.left is not None:
            yield from items(query.left)

    def send(query: Query | tuple[()]) -> bytes:
        written = list(items(query)) if query else []
        return struct.pack(">i", len(written)) + b"".join(written)

    return send


TSVECTOR = TypeOutput(lambda context, type_oid: _tsvector, _tsvector_sender)
TSQUERY = TypeOutput(lambda context, type_oid: lambda value: _infix(value, -1, False) if value else "", _tsquery_sender)


Pairs = dict[str, str | None]


def _hstore(value: Pairs) -> str:
    return ", ".join(f"{_quoted_part(key)}=>{_quoted_part(value[key])}" for key in sorted(value, key=key_order))


def _quoted_part(text: str | None) -> str:
    return "NULL" if text is None else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _hstore_sender(context: OutputContext, row: Type) -> Sender:
    encode = encoder(context)

    def parts(value: Pairs) -> Iterator[bytes]:
        yield struct.pack(">i", len(value))
        for key in sorted(value, key=key_order):
            for text in (key, value[key]):
                data = b"" if text is None else encode(text)
                yield struct.pack(">i", -1 if text is None else len(data)) + data

    return lambda value: b"".join(parts(value))


_TYPES = {
    "citext": TypeOutput(lambda context, row: str, text_sender()),
    "hstore": TypeOutput(lambda context, row: _hstore, _hstore_sender),
    "ltree": TypeOutput(lambda context, row: str, text_sender(str, b"\1")),
}


def output_of(row: Type) -> TypeOutput:
    """Return the output of a type of an extension. Raises Unknowable for types that are not followed."""
    output = _TYPES.get(row.name)
    if output is None:
        raise Unknowable(f"values of type {row.name} as text")
    return output
