"""CREATE SCHEMA with new elements: domains, types, functions, operators, collations and text search objects."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node

_EARLIER = frozenset(("CreateSeqStmt", "CreateStmt", "CreateTrigStmt", "GrantStmt", "IndexStmt", "ViewStmt"))
_ALLOWED = _EARLIER | {
    "CompositeTypeStmt",
    "CreateDomainStmt",
    "CreateEnumStmt",
    "CreateFunctionStmt",
    "CreateRangeStmt",
    "DefineStmt",
}


def read_create_schema(reader: Reader) -> tuple[str, Node] | None:
    """Return a CreateSchemaStmt with new elements, None for any other statement. Raises SyntaxRefused."""
    reader.next = 2
    reader.skip_until(b"create", b"grant")
    first = reader.offset
    _, node = reader.parsed(b"", 0, first)
    elements: list[Node] = []
    while not reader.at_end:
        start = reader.offset
        reader.next += 1
        reader.skip_until(b"create", b"grant")
        kind, body = reader.parsed(b"", start, reader.offset)
        elements.append({kind: body})
    kinds = {kind for element in elements for kind in element}
    if kinds <= _EARLIER or not kinds <= _ALLOWED:
        return None
    if node.get("if_not_exists"):
        raise reader.refusal("CREATE SCHEMA IF NOT EXISTS cannot include schema elements", first)
    return "CreateSchemaStmt", {**node, "schemaElts": elements}
