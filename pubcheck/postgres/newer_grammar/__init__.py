"""The statements of PostgreSQL 19 that the parser, which has the grammar of 18, refuses.

They are recognised by their tokens after the parser has refused them, so other statements cost nothing. A statement
about publications, subscriptions or partitions becomes the node that PostgreSQL 19 makes of it (gram.y). In other
statements the clauses that are new are blanked, and the rest is parsed. All others are skipped: ``UNREAD``.
"""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.clauses import parse_without_clauses
from pubcheck.postgres.newer_grammar.partitions import read_alter_table
from pubcheck.postgres.newer_grammar.property_graphs import read_property_graph
from pubcheck.postgres.newer_grammar.publications import read_alter_publication, read_create_publication
from pubcheck.postgres.newer_grammar.reader import Reader, words_of
from pubcheck.postgres.newer_grammar.skipped import UNREAD, skipped_node
from pubcheck.postgres.newer_grammar.subscriptions import read_alter_subscription, read_create_subscription
from pubcheck.postgres.parse import LARGEST, Node, SyntaxRefused, parse

__all__ = ["UNREAD", "parse_newer", "parse_with"]

_READERS = {
    (b"alter", b"publication"): read_alter_publication,
    (b"alter", b"subscription"): read_alter_subscription,
    (b"alter", b"table"): read_alter_table,
    (b"create", b"publication"): read_create_publication,
    (b"create", b"subscription"): read_create_subscription,
}


def parse_with(newer: bool, sql: str, most: int = LARGEST) -> tuple[str, Node] | None:
    """Parse a statement as ``parse`` does; ``newer``: also with the grammar of 19."""
    try:
        return parse(sql, most)
    except SyntaxRefused:
        statement = parse_newer(sql) if newer else None
        if statement is None:
            raise
        return statement


def parse_newer(text: str) -> tuple[str, Node] | None:
    """Return the node of a refused statement that the grammar of 19 accepts; None for one that it refuses alike.

    Raises SyntaxRefused where the server of 19 refuses it for another reason, or at another place.
    """
    data = text.encode(errors="surrogatepass")
    words = words_of(data, 5)
    reader = _READERS.get((words[0], words[1])) if len(words) > 1 else None
    statement = None if reader is None else reader(Reader(data))
    if statement is None and b"property" in words:
        statement = read_property_graph(Reader(data))
    if statement is None:
        statement = parse_without_clauses(data)
    if statement is None and (node := skipped_node(data)) is not None:
        return node, {}
    return statement
