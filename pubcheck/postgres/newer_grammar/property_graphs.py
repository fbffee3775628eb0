"""CREATE and DROP PROPERTY GRAPH: of a property graph only its name matters here."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused

_PERSISTENCE = ((b"local",), (b"global",), (b"temporary",), (b"temp",), (b"unlogged",))


def read_property_graph(reader: Reader) -> tuple[str, Node] | None:
    """Return the statement with the names of the graphs, None for any other statement."""
    try:
        if reader.accept(b"create"):
            return _create(reader)
        if reader.accept(b"drop", b"property", b"graph"):
            head = b"DROP TABLE "
            _, node = reader.parsed(head, reader.offset, len(reader.data))
            return "DropStmt", {**node, "removeType": "OBJECT_PROPGRAPH"}
    except SyntaxRefused:
        pass
    return None


def _create(reader: Reader) -> tuple[str, Node] | None:
    temporary = False
    for words in _PERSISTENCE:
        temporary = reader.accept(*words) or temporary
    if not reader.accept(b"property", b"graph"):
        return None
    name = reader.qualified_name()
    return "CreatePropGraphStmt", {"pgname": {**name, "relpersistence": "t" if temporary else "p"}}
