"""Statements that the grammar of 18 accepts and that of 19 refuses, because of its new keywords.

IGNORE and RESPECT are labels of columns only behind AS, and GRAPH_TABLE names neither a function nor a type.
"""

from __future__ import annotations

from pubcheck.lexing.keywords import QUOTED_SINCE
from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import SyntaxRefused, parse

_ALIKE = {b"graph_table": b"out", b"ignore": b"second", b"respect": b"varying"}
"""Keywords of 18 that are allowed where those of 19 are (kwlist.h), and that are not longer."""


def refused_keyword(text: str) -> SyntaxRefused | None:
    """Return the refusal of 19 of a statement that 18 accepts, or None if it accepts it too."""
    data = text.encode(errors="surrogatepass")
    reader = Reader(data)
    replaced = bytearray(data)
    for kind, token, offset in reader.tokens:
        alike = _ALIKE.get(token.lower()) if kind == "name" else None
        if alike is not None:
            replaced[offset : offset + len(token)] = alike.ljust(len(token))
    if replaced == data:
        return None
    try:
        parse(replaced.decode(errors="surrogatepass"))
    except SyntaxRefused as refusal:
        return _of_newer(reader, text, refusal)
    return None


def _of_newer(reader: Reader, text: str, refusal: SyntaxRefused) -> SyntaxRefused:
    """Return a refusal of the replaced text as 19 words it."""
    if refusal.location is None:
        return refusal
    place = len(text[: refusal.location].encode(errors="surrogatepass"))
    reader.next = next(number for number, item in enumerate(reader.tokens) if item[2] >= place)
    label = reader.tokens[reader.next][1].lower() in (b"ignore", b"respect")
    if label and reader.follows(b")") and _closes_call(reader):
        # There NULLS could follow.
        reader.next += 1
    try:
        reader.refuse()
    except SyntaxRefused as worded:
        return worded


def _closes_call(reader: Reader) -> bool:
    """Return whether the parenthesis that was read last closes the call of a function that no keyword names."""
    depth = 0
    for number in range(reader.next - 1, 0, -1):
        depth += (reader.tokens[number][1] == b")") - (reader.tokens[number][1] == b"(")
        if depth == 0:
            kind, name, _ = reader.tokens[number - 1]
            return kind == "name" and name.decode(errors="replace").lower() not in QUOTED_SINCE
    return False
