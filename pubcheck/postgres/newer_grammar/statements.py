"""The node of a refused statement, by its first words.

Here are REPACK, partitions that are merged and split, subscriptions with servers, and new elements of CREATE SCHEMA
(gram.y: RepackStmt, partition_cmd, CreateSubscriptionStmt, OptSchemaEltList).
"""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.clauses import parse_without_clauses
from pubcheck.postgres.newer_grammar.property_graphs import read_property_graph
from pubcheck.postgres.newer_grammar.publications import read_alter_publication, read_create_publication
from pubcheck.postgres.newer_grammar.reader import Reader, words_of
from pubcheck.postgres.newer_grammar.skipped import skipped_node
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import move_locations
from pubcheck.words import word_set


def read_alter_table(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterTableStmt of one of both forms, None for any other statement."""
    reader.next = 2
    reader.accept(b"if", b"exists")
    try:
        reader.relation()
    except SyntaxRefused:
        return None
    head = reader.data[: reader.end] + b" DETACH PARTITION t"
    if reader.accept(b"merge", b"partitions"):
        subtype, command = "AT_MergePartitions", _merge(reader)
    elif reader.accept(b"split", b"partition"):
        subtype, command = "AT_SplitPartition", _split(reader)
    else:
        return None
    if not reader.at_end:
        reader.refuse()
    _, node = reader.parsed(head, len(head), len(head))
    node["cmds"] = [{"AlterTableCmd": {"subtype": subtype, "def": {"PartitionCmd": command}}}]
    return "AlterTableStmt", node


def _merge(reader: Reader) -> Node:
    """Return the command that merges the partitions of ``partlist`` into ``name``."""
    reader.expect(b"(")
    merged = [{"SinglePartitionSpec": {"name": reader.qualified_name()}}]
    while reader.accept(b","):
        merged.append({"SinglePartitionSpec": {"name": reader.qualified_name()}})
    reader.expect(b")")
    reader.expect(b"into")
    return {"name": reader.qualified_name(), "partlist": merged}


def _split(reader: Reader) -> Node:
    """Return the command that splits the partition ``name`` into those of ``partlist``, each with its bound."""
    split = reader.qualified_name()
    reader.expect(b"into")
    reader.expect(b"(")
    parts: list[Node] = []
    while not parts or reader.accept(b","):
        start = reader.offset
        reader.expect(b"partition")
        reader.qualified_name()
        reader.skip_until(b",", b")")
        _, node = reader.parsed(b"ALTER TABLE t ATTACH ", start, reader.end)
        parts.append({"SinglePartitionSpec": node["cmds"][0]["AlterTableCmd"]["def"]["PartitionCmd"]})
    reader.expect(b")")
    return {"name": split, "partlist": parts}


_NAME = 2
"""The number of the token that is the subscription's name."""


def read_create_subscription(reader: Reader) -> tuple[str, Node] | None:
    """Return the CreateSubscriptionStmt with a server, None for any other statement."""
    reader.next = _NAME + 1
    if not reader.accept(b"server"):
        return None
    server = _server(reader)
    if not reader.sees(b"publication"):
        reader.refuse()
    head = _head(reader) + b" CONNECTION '' "
    rest = reader.offset
    statement = parse((head + reader.data[rest:]).decode(errors="surrogatepass"))
    assert statement is not None
    move_locations(statement[1], rest - len(head))
    del statement[1]["conninfo_location"]
    return "CreateSubscriptionStmt", {**statement[1], "servername": server}


def read_alter_subscription(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterSubscriptionStmt of a form that is new, None for any other statement."""
    reader.next = _NAME + 1
    if reader.accept(b"refresh", b"sequences"):
        fields = {"kind": "ALTER_SUBSCRIPTION_REFRESH_SEQUENCES"}
    elif reader.accept(b"server"):
        fields = {"kind": "ALTER_SUBSCRIPTION_SERVER", "servername": _server(reader)}
    else:
        return None
    if not reader.at_end:
        reader.refuse()
    statement = parse((_head(reader) + b" ENABLE").decode(errors="surrogatepass"))
    assert statement is not None
    return "AlterSubscriptionStmt", {"subname": statement[1]["subname"], **fields}


def _server(reader: Reader) -> str:
    start = reader.offset
    reader.name()
    _, last, offset = reader.tokens[reader.next - 1]
    _, node = reader.parsed(b"DROP SERVER ", start, offset + len(last))
    server: str = node["objects"][0]["String"]["sval"]
    return server


def _head(reader: Reader) -> bytes:
    _, name, offset = reader.tokens[_NAME]
    return reader.data[: offset + len(name)]


_EARLIER = word_set("CreateSeqStmt CreateStmt CreateTrigStmt GrantStmt IndexStmt ViewStmt")
_ALLOWED = _EARLIER | word_set(
    "CompositeTypeStmt CreateDomainStmt CreateEnumStmt CreateFunctionStmt CreateRangeStmt DefineStmt"
)


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
