"""REPACK [(options)] [table [USING INDEX [index]]] (gram.y: RepackStmt)."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node

_OFF = (b"0", b"false", b"off", b"'off'", b"'false'")


def read_repack(reader: Reader) -> tuple[str, Node] | None:
    """Return the statement: its table, if it names one, and whether it is concurrent. Raises SyntaxRefused."""
    reader.expect(b"repack")
    concurrent = False
    if reader.accept(b"("):
        while not reader.accept(b")"):
            if reader.accept(b"concurrently"):
                concurrent = reader.at_end or reader.tokens[reader.next][1].lower() not in _OFF
            if reader.at_end:
                reader.refuse()
            reader.next += not reader.sees(b")")
    node: Node = {"concurrent": concurrent}
    if not reader.at_end and not reader.sees(b"using"):
        node["relation"] = reader.qualified_name()
    return "RepackStmt", node
