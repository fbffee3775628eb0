"""Tokens of a statement's text, for places that the parse tree does not give. Offsets are in UTF-8 bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.lazy_regex import lazy_compile

_TOKEN = lazy_compile(
    rb"""(?P<blank>\s+|--[^\n\r]*|/\*(?:[^*/]++|\*(?!/)|/(?!\*))*+\*/)
       | (?P<text>[eE]'(?:[^'\\]++|\\.|'')*+'|(?:[uU]&|[nNbBxX])?'(?:[^']++|'')*+'
           |(?P<quote>\$(?:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$).*?(?P=quote))
       | (?P<name>(?:[uU]&)?"(?:[^"]++|"")*+"|[A-Za-z_\x80-\xff][A-Za-z0-9_$\x80-\xff]*)
       | (?P<number>\$?[0-9][0-9a-zA-Z_.]*)
       | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(text: bytes, start: int = 0) -> Iterator[tuple[str, bytes, int]]:
    """(kind, token, offset) from an offset on; blanks and comments are left out."""
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup or "other"
        if kind != "blank":
            yield kind, match.group(), match.start()


def name_end(text: bytes, start: int) -> int:
    """Return the end of the (qualified) name or other token that begins at an offset."""
    end, dotted = start, True
    for kind, token, offset in tokens(text, start):
        if token == b"." and end > start:
            dotted = True
        elif dotted and (kind == "name" or (end > start and token == b"*")):
            end, dotted = offset + len(token), False
        else:
            return end if end > start else offset + len(token)
    return max(end, min(start + 1, len(text)))


_BEFORE_OBJECT = frozenset((b"if", b"exists", b"not", b"only"))


def place_of_name(text: bytes, name: str) -> int | None:
    """The byte offset of a name in a CREATE, ALTER or DROP statement: behind the object's own name if it is there, else
    that; None if it is neither."""
    words = list(tokens(text))
    index = 2
    while index < len(words) and words[index][1].lower() in _BEFORE_OBJECT:
        index += 1
    while index + 2 < len(words) and words[index + 1][1] == b".":
        index += 2
    for kind, token, offset in (*words[index + 1 :], *words[index : index + 1]):
        if kind == "name" and _identifier(token) == name:
            return offset
    return None


def _identifier(token: bytes) -> str:
    """The name that a token is: without quotes it is folded to lower case."""
    written = token.decode(errors="surrogatepass")
    return written[1:-1].replace('""', '"') if written.startswith('"') else written.lower()


def column_list(text: bytes, relation: int) -> list[tuple[int, int]]:
    """Return (offset, length) of each name in the column list that follows a publication's relation at an offset."""
    places: list[tuple[int, int]] = []
    inside = False
    expect_name = True  # the relation's own (qualified) name comes first
    for kind, token, offset in tokens(text, relation):
        if inside:
            if token == b")":
                return places
            if token != b",":
                places.append((offset, len(token)))
        elif expect_name and kind == "name":
            expect_name = False
        elif token == b".":
            expect_name = True
        elif token == b"(":
            inside = True
        elif token not in (b"*", b")"):
            return []
    return places


def in_bytes(text: str, offset: int | None = None) -> int:
    """Convert an offset in characters of a text (None: its end) to one in bytes."""
    return len(text[:offset].encode(errors="surrogatepass"))


def in_characters(data: bytes, offset: int | None = None) -> int:
    """Convert an offset in bytes of a text (None: its end) to one in characters."""
    return len(data[:offset].decode(errors="surrogatepass"))


def folded(token: bytes) -> str:
    """An identifier token as PostgreSQL reads it: unquoted ones in lower case (ASCII), quotes undone."""
    text = token.decode(errors="replace")
    if text.endswith('"'):
        return text[text.index('"') + 1 : -1].replace('""', '"')
    return token.lower().decode(errors="replace")


def names_in(text: bytes) -> set[str]:
    """The names that are identifier tokens of a statement, as PostgreSQL folds them."""
    return {folded(token) for kind, token, _ in tokens(text) if kind == "name"}


def find_name(text: bytes, name: str, start: int = 0) -> int | None:
    """The offset of the first identifier token of that name."""
    for kind, token, offset in tokens(text, start):
        if kind == "name" and folded(token) == name:
            return offset
    return None
