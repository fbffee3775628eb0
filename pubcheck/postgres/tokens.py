"""Identifiers, and tokens of a statement's text, for places that the parse tree does not give. Offsets are in bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.lexical import QUOTED_SINCE, RESERVED
from pubcheck.postgres.versions import BY_NUMBER

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


_PLAIN = lazy_compile(r"[a-z_][a-z0-9_]*\Z")
_LISTED = lazy_compile(r'[ \t\n\r\f\v]*(?:"((?:[^"]|"")*+)"|((?!")[^ \t\n\r\f\v,]+))[ \t\n\r\f\v]*(,|\Z)')
_NEEDS_NO_QUOTES = lazy_compile(r"[a-z_][a-z0-9_$]*\Z")


def quote_identifier(name: str, major: int) -> str:
    """A name as a server shows it (utils/adt/ruleutils.c): quoted too where a keyword could only be a column's name."""
    if _PLAIN.match(name) and not (name in QUOTED_SINCE and BY_NUMBER[major].includes(QUOTED_SINCE[name])):
        return name
    return in_quotes(name)


def identifier(name: str) -> str:
    """A name as it must be written in SQL for a table, column or role: quoted only where it needs quotes."""
    if _NEEDS_NO_QUOTES.match(name) and name not in RESERVED:
        return name
    return in_quotes(name)


def in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def qualified(name: str) -> str:
    """Return ``schema.table`` as SQL writes it; the first dot is the one between the names."""
    return ".".join(identifier(part) for part in name.split(".", 1))


def quote_literal(text: str) -> str:
    """Quote a text as an SQL string in which backslashes are ordinary (standard_conforming_strings)."""
    return "'" + text.replace("'", "''") + "'"


def ascii_lower(text: str) -> str:
    return "".join(char.lower() if "A" <= char <= "Z" else char for char in text)


def split_identifiers(text: str) -> list[str] | None:
    """Return the names of a list (SplitIdentifierString), in lower case unless quoted; None for a malformed list."""
    identifiers: list[str] = []
    offset, end = 0, "," if text.strip(" \t\n\r\f\v") else ""
    while end:
        match = _LISTED.match(text, offset)
        if match is None:
            return None
        quoted, bare, end = match.groups()
        name = ascii_lower(bare) if quoted is None else quoted.replace('""', '"')
        identifiers.append(name.encode(errors="surrogatepass")[:63].decode(errors="ignore"))
        offset = match.end()
    return identifiers
