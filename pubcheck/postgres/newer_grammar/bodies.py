"""Bodies of functions and DO blocks with statements that only the grammar of 19 accepts.

For PL/pgSQL's parser a short statement takes the place of each of them, and blanks the place of new clauses. All other
text stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.newer_grammar.clauses import has_newer_words, without_new_clauses
from pubcheck.postgres.newer_grammar.statements import parse_newer
from pubcheck.postgres.parse import SyntaxRefused
from pubcheck.postgres.tokens import in_characters, tokens

_PLACEHOLDER = "NOTIFY a"
"""A statement that PL/pgSQL runs, and that is not longer than any that it replaces."""
_BEFORE_STATEMENT = (b"", b";", b"begin", b"else", b"loop", b"then")
_FIRST = frozenset((b"alter", b"checkpoint", b"comment", b"create", b"drop", b"grant", b"repack", b"set", b"wait"))
_VARIABLES = lazy_compile(r'at or near "(?:execute|strict)"', re.IGNORECASE)


class Body(Struct, frozen=True):
    """A body in a form that the parser reads, and in characters the end of each replaced statement by its start, and
    the places of blanked clauses."""

    text: str
    ends: dict[int, int]
    blanked: list[tuple[int, int]]


class RefusedInBody(Exception):
    """The server of 19 refuses a statement of a body. ``start`` is its offset in characters."""

    def __init__(self, refusal: SyntaxRefused, start: int, statement: str) -> None:
        super().__init__(refusal.message)
        self.refusal, self.start, self.statement = refusal, start, statement


def readable(body: str) -> Body | None:
    """Return a refused body without what only 19 accepts; None if there is nothing. Raises RefusedInBody."""
    data, clauses = without_new_clauses(body.encode(errors="surrogatepass"))
    text = data.decode(errors="surrogatepass")
    if len(text) != len(body):
        # A blanked clause had letters beyond ASCII: places are those of the characters.
        return None
    ends: dict[int, int] = {}
    ascii_only = body.isascii()
    for first, last in _statements(data):
        start, end = (first, last) if ascii_only else (in_characters(data, first), in_characters(data, last))
        statement = text[start:end]
        try:
            newer = parse_newer(statement)
        except SyntaxRefused as refusal:
            raise RefusedInBody(refusal, start, statement) from None
        if newer is not None and end - start >= len(_PLACEHOLDER):
            text = text[:start] + _PLACEHOLDER.ljust(end - start) + text[end:]
            ends[start] = end
    if not ascii_only:
        clauses = [(in_characters(data, first), in_characters(data, last)) for first, last in clauses]
    return None if text == body else Body(text, ends, clauses)


def may_be_accepted(body: str, message: str) -> bool:
    """Return whether PostgreSQL 19 may accept a body that the parser refuses with this message."""
    words = [token.lower() for _, token, _ in tokens(body.encode(errors="surrogatepass"))]
    return _VARIABLES.search(message) is not None or has_newer_words(words)


def _statements(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte offsets of the statements of a body that may be replaced, without their semicolons."""
    before, start, end = b"", -1, 0
    for _, token, offset in tokens(data):
        word = token.lower()
        if start >= 0 and word == b";":
            yield start, end
            start = -1
        elif start < 0 and before in _BEFORE_STATEMENT and word in _FIRST:
            start = offset
        before, end = word, offset + len(token)
    if start >= 0:
        yield start, end
