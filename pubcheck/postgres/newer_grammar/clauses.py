"""New clauses of statements that are otherwise read: they are blanked, and the rest is parsed at its places.

UPDATE and DELETE ... FOR PORTION OF, INSERT ... ON CONFLICT DO SELECT (gram.y: for_portion_of_clause, opt_on_conflict),
IGNORE or RESPECT NULLS of window functions, GRAPH_TABLE, and SET search_path TO NULL. None of them changes which tables
a statement writes.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import dictionaries

_AFTER_PORTION = (b"as", b"set", b"using", b"where", b"returning", b";")
_INSERT = b"INSERT INTO t VALUES (1) "


def read_portion(reader: Reader) -> Node | None:
    """Read FOR PORTION OF up to the alias behind it, and return its column, and the texts of its two bounds or of the
    range. None if it cannot be read."""
    start = reader.offset
    reader.next += 1
    column = reader.data[start : reader.end]
    if reader.accept(b"("):
        texts = [_text(reader, b")")]
        reader.accept(b")")
    else:
        reader.accept(b"from")
        texts = [_text(reader, b"to")]
        reader.accept(b"to")
        first, begin = reader.next, reader.offset
        texts.append(_text(reader, *_AFTER_PORTION))
        if reader.next > first + 1 and _has_label(reader, begin):
            reader.next -= 1
            texts[1] = reader.data[begin : reader.end].decode(errors="surrogatepass")
    return {"column": column.decode(errors="surrogatepass"), "texts": texts} if all(texts) else None


def _text(reader: Reader, *words: bytes) -> str:
    start = reader.offset
    reader.skip_until(*words)
    return reader.data[start : max(start, reader.end)].decode(errors="surrogatepass")


def _has_label(reader: Reader, start: int) -> bool:
    """Return whether the expression that was read last ends in an alias without AS."""
    try:
        _, node = reader.parsed(b"SELECT ", start, reader.end)
    except SyntaxRefused:
        return False
    return "name" in node["targetList"][-1]["ResTarget"]


def read_do_select(reader: Reader, start: int) -> Node | None:
    """Read an ON CONFLICT clause behind its first words, and return its node if its action is DO SELECT."""
    reader.skip_until(b"do", b";")
    end = reader.offset
    if not reader.accept(b"do", b"select"):
        return None
    try:
        _, statement = reader.parsed(_INSERT, start, end, b"DO NOTHING")
        node: Node = {**statement["onConflictClause"], "action": "ONCONFLICT_SELECT"}
        node["locks"] = reader.accept(b"for")
        reader.skip_until(b"where", b"returning", b";", b")")
        if reader.sees(b"where"):
            where = reader.offset
            reader.skip_until(b"returning", b";", b")")
            _, query = reader.parsed(b"SELECT ", where, reader.end)
            node["whereClause"] = query["whereClause"]
    except SyntaxRefused:
        return None
    return node


_SUSPECT = lazy_compile(rb"(?i)\b(?:portion|conflict|nulls|graph_table|search_path)\b")
_CHANGES = frozenset(("DeleteStmt", "InsertStmt", "UpdateStmt"))
_SOME_TABLE = b"XMLTABLE(''PASSING''COLUMNS a int)"
"""An item of FROM with columns that are not known, and that is not longer than any GRAPH_TABLE."""


class _Clause(Struct, frozen=True):
    """A new clause between two byte offsets; ``instead`` is what the grammar of 18 reads there, padded with blanks.

    ``call`` is where the call begins that NULLS belongs to, or -1, ``graph`` the graph of GRAPH_TABLE. ``node`` is put
    into the ``field`` of an INSERT, UPDATE or DELETE.
    """

    start: int
    end: int
    instead: bytes = b""
    call: int = -1
    graph: Node | None = None
    field: str = ""
    node: Node | None = None


def parse_without_clauses(data: bytes) -> tuple[str, Node] | None:
    """Return the node of a statement with new clauses; None if there is none, or the rest is refused too.

    A call with NULLS has ``ignore_nulls``, GRAPH_TABLE is a node GraphTable, and a change FOR PORTION OF a range
    has a ``forPortionOf``.
    """
    clauses = _new_clauses(data)
    if not clauses:
        return None
    try:
        statement = parse(_blanked(data, clauses).decode(errors="surrogatepass"))
    except SyntaxRefused:
        return None
    if statement is not None:
        return statement if _mark(statement, clauses) else None
    return None


def _mark(statement: tuple[str, Node], clauses: list[_Clause]) -> bool:
    """Mark the calls with NULLS, and put all other clauses in their places; False if one has none."""
    calls = {clause.call for clause in clauses}
    graphs = {clause.start: clause.graph for clause in clauses if clause.graph is not None}
    changes: dict[int, Node] = {}
    for item in list(dictionaries({statement[0]: statement[1]})):
        if "FuncCall" in item and item["FuncCall"].get("location", 0) in calls:
            item["FuncCall"]["ignore_nulls"] = True
        elif "RangeTableFunc" in item and item["RangeTableFunc"].get("location", 0) in graphs:
            body = item.pop("RangeTableFunc")
            item["GraphTable"] = {"graph": graphs[body["location"]], "alias": body.get("alias", {})}
        for kind in _CHANGES & item.keys():
            changes[item[kind]["relation"].get("location", 0)] = item[kind]
    for clause in clauses:
        if clause.field:
            # The target is the last one before the clause.
            target = max((place for place in changes if place < clause.start), default=None)
            if target is None:
                return False
            changes[target][clause.field] = clause.node
    return True


def without_new_clauses(data: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text with its new clauses blanked, and their byte offsets."""
    clauses = _new_clauses(data)
    return _blanked(data, clauses), [(clause.start, clause.end) for clause in clauses]


def _blanked(data: bytes, clauses: list[_Clause]) -> bytes:
    blanked = bytearray(data)
    for clause in clauses:
        blanked[clause.start : clause.end] = clause.instead.ljust(clause.end - clause.start)
    return bytes(blanked)


def _new_clauses(data: bytes) -> list[_Clause]:
    return [] if _SUSPECT.search(data) is None else list(_read_clauses(Reader(data, keep_semicolons=True)))


def _read_clauses(reader: Reader) -> Iterator[_Clause]:
    while not reader.at_end:
        start = reader.offset
        if reader.accept(b"for", b"portion", b"of"):
            node = read_portion(reader)
            if node is not None:
                yield _Clause(start, reader.end, field="forPortionOf", node=node)
        elif reader.accept(b"on", b"conflict"):
            node = read_do_select(reader, start)
            if node is not None:
                yield _Clause(start, reader.end, field="onConflictClause", node=node)
        elif (reader.sees(b"ignore", b"nulls") or reader.sees(b"respect", b"nulls")) and reader.follows(b")"):
            call = _call_before(reader)
            reader.next += 2
            yield _Clause(start, reader.end, call=call)
        elif reader.accept(b"graph_table", b"("):
            graph = _graph(reader)
            if graph is not None and reader.end - start >= len(_SOME_TABLE):
                yield _Clause(start, reader.end, _SOME_TABLE, graph=graph)
        elif reader.accept(b"search_path", b"to", b"null") or reader.accept(b"search_path", b"=", b"null"):
            yield _Clause(reader.end - len(b"null"), reader.end, b"''")
        else:
            reader.next += 1


def _graph(reader: Reader) -> Node | None:
    """Read GRAPH_TABLE behind its opening parenthesis, and return its graph; None for another call of that name."""
    try:
        graph = reader.qualified_name()
    except SyntaxRefused:
        return None
    if not reader.accept(b"match"):
        return None
    reader.skip_until(b")")
    reader.accept(b")")
    return graph


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
