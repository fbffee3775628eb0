"""Migrations in JavaScript and TypeScript: chains of calls with their arguments, as far as they are written out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.extract.concatenation import pieces
from pubcheck.extract.frameworks.operations import Place, Unreadable
from pubcheck.extract.frameworks.tokens import Token, Value, matching, split
from pubcheck.extract.string_literals import Literal

_TOKEN = re.compile(r"(?P<word>[A-Za-z_$][\w$]*)|(?P<number>\d[\d_]*(?:\.\d+)?)|(?P<mark>=>|\?\.|\.\.\.|[^\s\w$])")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS = {"true": True, "false": False, "null": None, "undefined": None}


class Link(Struct, frozen=True):
    """A call in a chain: its name, its place up to the closing parenthesis, and the tokens of its arguments."""

    name: str
    place: Place
    arguments: tuple[tuple[Token, ...], ...]

    def value(self, number: int) -> Value:
        """Return an argument; None for one that is left out."""
        if number >= len(self.arguments):
            return Value(self.place, None)
        return value(self.arguments[number])


def tokens(text: str, code: str, strings: Sequence[Literal]) -> list[Token]:
    """Return the tokens of a program. ``code`` is its text without strings, comments and what is not read."""
    all_tokens = []
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        all_tokens.append(Token(match[kind] if kind == "mark" else kind, match[kind], *match.span()))
    for literal in strings:
        content = "".join(
            part.value for part in pieces(text, literal.body, literal.close, literal.escapes, literal.holes)
        )
        all_tokens.append(Token("unknown" if literal.holes else "name", content, literal.start, literal.end))
    all_tokens.sort(key=lambda token: token.start)
    return all_tokens


def chain(listed: Sequence[Token], position: int) -> tuple[list[Link], int]:
    """Return the calls behind an expression that ends before ``position``, and where they end."""
    links: list[Link] = []
    while position + 2 < len(listed) and listed[position].kind in (".", "?.") and listed[position + 1].kind == "word":
        if listed[position + 2].kind != "(":
            break
        end = matching(listed, position + 2)
        last = listed[min(end, len(listed) - 1)].end
        links.append(
            Link(
                listed[position + 1].value, (listed[position + 1].start, last), tuple(split(listed[position + 3 : end]))
            )
        )
        position = end + 1
    return links, position


def value(part: Sequence[Token]) -> Value:
    """Return the value of an expression."""
    place = part[0].start, part[-1].end
    first = part[0]
    if len(part) == 1:
        if first.kind == "name":
            return Value(place, first.value)
        if first.kind == "number" and "." not in first.value:
            return Value(place, int(first.value.replace("_", "")))
        if first.kind == "word" and first.value in _WORDS:
            return Value(place, _WORDS[first.value])
    elif first.kind in ("[", "{") and matching(part, 0) == len(part) - 1:
        parts = list(split(part[1:-1]))
        if first.kind == "[":
            return Value(place, [value(item) for item in parts])
        if all(len(item) > 2 and item[0].kind in ("word", "name") and item[1].kind == ":" for item in parts):
            return Value(place, {item[0].value: value(item[2:]) for item in parts})
    return Value(place)


def callback(part: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Return the name of what a function is handed, and the tokens of its body."""
    arrow = next((number for number, token in enumerate(part) if token.kind == "=>"), None)
    opened = next((number for number, token in enumerate(part) if token.kind == "("), None)
    names = [token.value for token in part if token.kind == "word" and token.value not in ("async", "function")]
    if not names:
        raise Unreadable
    if arrow is not None:
        body = part[arrow + 1 :]
    elif opened is not None and any(token.value == "function" for token in part[:opened]):
        body = part[matching(part, opened) + 1 :]
        names = [token.value for token in part[opened:] if token.kind == "word"]
    else:
        raise Unreadable
    if body and body[0].kind == "{":
        body = body[1 : matching(body, 0)]
    return names[0], body
