"""New clauses of statements that are otherwise read: they are blanked, and the rest is parsed at its places.

UPDATE and DELETE ... FOR PORTION OF, INSERT ... ON CONFLICT DO SELECT, and IGNORE or RESPECT NULLS of window functions.
None of them changes which tables a statement writes, or the columns of its result.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import walk

_SUSPECT = lazy_compile(rb"(?i)\b(?:portion|conflict|nulls)\b")
_AFTER_PORTION = (b"as", b"set", b"using", b"where", b"returning", b";")


class _Clause(Struct, frozen=True):
    """A new clause between two byte offsets; ``call`` is where the call begins that NULLS belongs to, or -1."""

    form: str
    start: int
    end: int
    call: int = -1


def parse_without_clauses(data: bytes) -> tuple[str, Node] | None:
    """Return the node of a statement without its new clauses, and in ``newClause`` the form of the first one.

    A call with NULLS has ``ignore_nulls``. None if there is no such clause, or the rest is refused too.
    """
    clauses = _new_clauses(data)
    if not clauses:
        return None
    try:
        statement = parse(_blanked(data, clauses).decode(errors="surrogatepass"))
    except SyntaxRefused:
        return None
    if statement is not None:
        calls = {clause.call for clause in clauses}
        for kind, node in walk(statement[1]):
            if kind == "FuncCall" and node.get("location", 0) in calls:
                node["ignore_nulls"] = True
        statement[1]["newClause"] = clauses[0].form
    return statement


def without_new_clauses(data: bytes) -> bytes:
    """Return a text with its new clauses blanked."""
    return _blanked(data, _new_clauses(data))


def _blanked(data: bytes, clauses: list[_Clause]) -> bytes:
    blanked = bytearray(data)
    for clause in clauses:
        blanked[clause.start : clause.end] = b" " * (clause.end - clause.start)
    return bytes(blanked)


def _new_clauses(data: bytes) -> list[_Clause]:
    return [] if _SUSPECT.search(data) is None else list(_read_clauses(Reader(data, keep_semicolons=True)))


def _read_clauses(reader: Reader) -> Iterator[_Clause]:
    while not reader.at_end:
        start = reader.offset
        if reader.accept(b"for", b"portion", b"of"):
            reader.next += 1
            reader.skip_until(*_AFTER_PORTION)
            yield _Clause("FOR PORTION OF", start, reader.end)
        elif reader.accept(b"on", b"conflict"):
            reader.skip_until(b"do", b";")
            if reader.accept(b"do", b"select"):
                reader.skip_until(b"returning", b";")
                yield _Clause("ON CONFLICT DO SELECT", start, reader.end)
        elif (reader.sees(b"ignore", b"nulls") or reader.sees(b"respect", b"nulls")) and reader.follows(b")"):
            call = _call_before(reader)
            reader.next += 2
            yield _Clause("IGNORE or RESPECT NULLS", start, reader.end, call)
        else:
            reader.next += 1


def _call_before(reader: Reader) -> int:
    """Return the byte offset of the name of the call whose closing parenthesis was read last."""
    number, depth = reader.next - 1, 0
    while number > 0:
        token = reader.tokens[number][1]
        depth += (token == b")") - (token == b"(")
        number -= 1
        if depth == 0:
            break
    while number > 1 and reader.tokens[number - 1][1] == b".":
        number -= 2
    return reader.tokens[number][2]
