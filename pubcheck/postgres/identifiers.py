"""Names and texts as SQL writes them."""

from __future__ import annotations

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.lexical import QUOTED_SINCE, RESERVED
from pubcheck.postgres.versions import BY_NUMBER

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
