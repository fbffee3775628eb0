"""The node of a refused statement, by its first words."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.clauses import parse_without_clauses
from pubcheck.postgres.newer_grammar.partitions import read_alter_table
from pubcheck.postgres.newer_grammar.property_graphs import read_property_graph
from pubcheck.postgres.newer_grammar.publications import read_alter_publication, read_create_publication
from pubcheck.postgres.newer_grammar.reader import Reader, words_of
from pubcheck.postgres.newer_grammar.repack import read_repack
from pubcheck.postgres.newer_grammar.schema_elements import read_create_schema
from pubcheck.postgres.newer_grammar.skipped import skipped_node
from pubcheck.postgres.newer_grammar.subscriptions import read_alter_subscription, read_create_subscription
from pubcheck.postgres.parse import Node

_READERS = {
    (b"alter", b"publication"): read_alter_publication,
    (b"alter", b"subscription"): read_alter_subscription,
    (b"alter", b"table"): read_alter_table,
    (b"create", b"publication"): read_create_publication,
    (b"create", b"schema"): read_create_schema,
    (b"create", b"subscription"): read_create_subscription,
}


def parse_newer(text: str) -> tuple[str, Node] | None:
    """Return the node of a refused statement that the grammar of 19 accepts; None for one that it refuses alike.

    Raises SyntaxRefused where the server of 19 refuses it for another reason, or at another place.
    """
    data = text.encode(errors="surrogatepass")
    words = words_of(data, 5)
    reader = _READERS.get((words[0], words[1])) if len(words) > 1 else None
    statement = None if reader is None else reader(Reader(data))
    if words[:1] == [b"repack"]:
        statement = read_repack(Reader(data))
    elif statement is None and b"property" in words:
        statement = read_property_graph(Reader(data))
    if statement is None:
        statement = parse_without_clauses(data)
    if statement is None and (node := skipped_node(data)) is not None:
        return node, {}
    return statement
