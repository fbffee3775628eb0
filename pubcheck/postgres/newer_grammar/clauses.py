"""New clauses of statements that are otherwise read: they are blanked, and the rest is parsed at its places.

UPDATE and DELETE ... FOR PORTION OF, INSERT ... ON CONFLICT DO SELECT, and IGNORE or RESPECT NULLS of window functions.
None of them changes which tables a statement writes, or the columns of its result.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused, parse

_SUSPECT = lazy_compile(rb"(?i)\b(?:portion|conflict|nulls)\b")
_FORMS = (
    ("FOR PORTION OF", b"portion"),
    ("ON CONFLICT DO SELECT", b"conflict"),
    ("IGNORE or RESPECT NULLS", b"nulls"),
)
_AFTER_PORTION = (b"as", b"set", b"using", b"where", b"returning", b";")


def parse_without_clauses(data: bytes) -> tuple[str, Node] | None:
    """Return the node of a statement without its new clauses, and in ``newClause`` the name of one of them.

    None if it has none, or is refused all the same.
    """
    blanked = without_new_clauses(data)
    if blanked == data:
        return None
    try:
        statement = parse(blanked.decode(errors="surrogatepass"))
    except SyntaxRefused:
        return None
    if statement is not None:
        statement[1]["newClause"] = next(form for form, word in _FORMS if word in data.lower())
    return statement


def without_new_clauses(data: bytes) -> bytes:
    """Return a text with its new clauses blanked."""
    if _SUSPECT.search(data) is None:
        return data
    blanked = bytearray(data)
    for start, end in _clauses(Reader(data, keep_semicolons=True)):
        blanked[start:end] = b" " * (end - start)
    return bytes(blanked)


def _clauses(reader: Reader) -> Iterator[tuple[int, int]]:
    """Yield the byte offsets of each new clause."""
    while not reader.at_end:
        start = reader.offset
        if reader.accept(b"for", b"portion", b"of"):
            reader.next += 1
            reader.skip_until(*_AFTER_PORTION)
            yield start, reader.end
        elif reader.accept(b"on", b"conflict"):
            reader.skip_until(b"do", b";")
            if reader.accept(b"do", b"select"):
                reader.skip_until(b"returning", b";")
                yield start, reader.end
        elif (reader.sees(b"ignore", b"nulls") or reader.sees(b"respect", b"nulls")) and reader.follows(b")"):
            reader.next += 2
            if reader.sees(b"over"):
                yield start, reader.end
        else:
            reader.next += 1
