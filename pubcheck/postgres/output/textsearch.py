"""Output of tsvector and tsquery (utils/adt/tsvector.c, tsquery.c)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from pubcheck.postgres.input.textsearch import Lexemes, Operand, Query
from pubcheck.postgres.output.dispatch import OutputContext, Sender, TypeOutput
from pubcheck.postgres.output.encodings import encoder

_WEIGHTS = ("", "C", "B", "A")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _tsvector(value: Lexemes) -> str:
    words = []
    for lexeme, positions in value:
        places = ",".join(f"{position}{_WEIGHTS[weight]}" for position, weight in positions)
        words.append(f"{_quoted(lexeme)}:{places}" if places else _quoted(lexeme))
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
    return _quoted(operand.text) + (f":{marks}" if marks else "")


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
