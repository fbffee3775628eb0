"""CREATE, ALTER and DROP PROPERTY GRAPH: of a property graph its name and its tables matter here."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused

_PERSISTENCE = (b"local", b"global", b"temporary", b"temp", b"unlogged")
_ELEMENTS = {b"vertex": "vertex", b"node": "vertex", b"edge": "edge", b"relationship": "edge"}


def read_property_graph(reader: Reader) -> tuple[str, Node] | None:
    """Return the statement with the names of the graphs, None for any other statement."""
    try:
        if reader.accept(b"create"):
            return _create(reader)
        if reader.accept(b"alter", b"property", b"graph"):
            return _alter(reader)
        if reader.accept(b"drop", b"property", b"graph"):
            _, node = reader.parsed(b"DROP TABLE ", reader.offset, len(reader.data))
            return "DropStmt", {**node, "removeType": "OBJECT_PROPGRAPH"}
    except SyntaxRefused:
        pass
    return None


def _create(reader: Reader) -> tuple[str, Node] | None:
    """CreatePropGraphStmt."""
    temporary = False
    for word in _PERSISTENCE:
        temporary = reader.accept(word) or temporary
    if not reader.accept(b"property", b"graph"):
        return None
    name = {**reader.qualified_name(), "relpersistence": "t" if temporary else "p"}
    return "CreatePropGraphStmt", {"pgname": name, "elements": list(_elements(reader))}


def _alter(reader: Reader) -> tuple[str, Node]:
    """RenameStmt, AlterObjectSchemaStmt, or AlterPropGraphStmt with the elements that it adds and the names of others
    that it drops; labels, properties and owners do not matter."""
    start = reader.offset
    reader.accept(b"if", b"exists")
    name = reader.qualified_name()
    if reader.sees(b"rename") or reader.sees(b"set"):
        kind, node = reader.parsed(b"ALTER VIEW ", start, len(reader.data))
        field = "renameType" if kind == "RenameStmt" else "objectType"
        return kind, {**node, field: "OBJECT_PROPGRAPH"}
    node = {"pgname": name, "elements": [], "dropped": []}
    if reader.accept(b"add"):
        node["elements"] = list(_elements(reader))
    elif reader.accept(b"drop"):
        reader.next += 2
        reader.expect(b"(")
        while not node["dropped"] or reader.accept(b","):
            node["dropped"].append(reader.qualified_name()["relname"])
        reader.expect(b")")
    return "AlterPropGraphStmt", node


def _elements(reader: Reader) -> Iterator[Node]:
    """Yield the kind, the table and the name of each element."""
    while not reader.at_end:
        kind = _ELEMENTS.get(reader.tokens[reader.next][1].lower())
        if kind is None:
            reader.refuse()
        reader.next += 1
        reader.expect(b"tables")
        reader.expect(b"(")
        while True:
            table = reader.qualified_name()
            alias = reader.qualified_name() if reader.accept(b"as") else table
            yield {"kind": kind, "table": table, "name": alias["relname"]}
            reader.skip_until(b",", b")")
            if not reader.accept(b","):
                break
        reader.expect(b")")
