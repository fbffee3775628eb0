"""The node of a refused statement, by its first words, and bodies of functions that hold such statements.

Here are publications for all tables or sequences (gram.y: pub_all_obj_type_list, preprocess_pub_all_objtype_list),
property graphs, of which the name and the tables matter, REPACK, partitions that are merged and split, subscriptions
with servers, and new elements of CREATE SCHEMA (gram.y: RepackStmt, partition_cmd, CreateSubscriptionStmt,
OptSchemaEltList). In a body for PL/pgSQL's parser a short statement takes the place of each of them, and blanks that of
new clauses; all other text stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.newer_grammar.clauses import (
    Reader,
    has_newer_words,
    parse_without_clauses,
    skipped_node,
    without_new_clauses,
    words_of,
)
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import move_locations
from pubcheck.postgres.tokens import in_characters, tokens
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


_PERSISTENCE = (b"local", b"global", b"temporary", b"temp", b"unlogged")
_ELEMENTS = {b"vertex": "vertex", b"node": "vertex", b"edge": "edge", b"relationship": "edge"}


def _read_property_graph(reader: Reader) -> tuple[str, Node] | None:
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


EXCEPT_TABLE = "PUBLICATIONOBJ_EXCEPT_TABLE"


def _read_create_publication(reader: Reader) -> tuple[str, Node] | None:
    """Return the CreatePublicationStmt with a list of all tables or sequences, None for any other statement."""
    head = _before(reader, b"for", b"")
    if head is None:
        return None
    objects = _AllObjects(reader)
    if not reader.at_end and not reader.sees(b"with"):
        reader.refuse()
    _, node = reader.parsed(head, max(len(head), reader.offset), len(reader.data))
    return "CreatePublicationStmt", {**node, **objects.fields()}


def _read_alter_publication(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterPublicationStmt that sets a list of all tables or sequences, None for any other statement."""
    head = _before(reader, b"set", b" DROP TABLE t")
    if head is None:
        return None
    objects = _AllObjects(reader)
    if not reader.at_end:
        reader.refuse()
    _, node = reader.parsed(head, len(head), len(head))
    return "AlterPublicationStmt", {"pubname": node["pubname"], "action": "AP_SetObjects", **objects.fields()}


def _before(reader: Reader, before_list: bytes, rest: bytes) -> bytes | None:
    """Return the statement up to its name, completed with ``rest``; the reader is then at the list of all objects.

    None if the statement has no such list, or a name that is refused.
    """
    reader.next = 3
    if not reader.accept(before_list) or not reader.sees(b"all"):
        return None
    _, name, offset = reader.tokens[2]
    head = reader.data[: offset + len(name)] + rest
    try:
        reader.parsed(head, len(head), len(head))
    except SyntaxRefused:
        return None
    return head


class _AllObjects:
    """The list: the kinds that it names, with their byte offsets, and those of the tables that it leaves out."""

    def __init__(self, reader: Reader) -> None:
        """Read the list. Raises SyntaxRefused."""
        self.reader = reader
        self.kinds: list[tuple[str, int]] = []
        self.excepted: list[tuple[int, int]] = []
        while not self.kinds or reader.accept(b","):
            start = reader.offset
            reader.expect(b"all")
            if reader.accept(b"tables"):
                self.kinds.append(("TABLES", start))
                if reader.accept(b"except"):
                    self._read_except()
            else:
                reader.expect(b"sequences")
                self.kinds.append(("SEQUENCES", start))

    def _read_except(self) -> None:
        reader = self.reader
        reader.expect(b"(")
        reader.expect(b"table")
        while True:
            self.excepted.append(reader.relation())
            if not reader.accept(b","):
                break
            reader.accept(b"table")
        reader.expect(b")")

    def fields(self) -> Node:
        """Return the fields of the statement. Raises SyntaxRefused if a kind is named twice."""
        fields: Node = {}
        for kind, offset in self.kinds:
            field = f"for_all_{kind.lower()}"
            if field in fields:
                detail = f"ALL {kind} can be specified only once."
                raise self.reader.refusal("invalid publication object list", offset, detail)
            fields[field] = True
        if self.excepted:
            fields["pubobjects"] = [
                {"PublicationObjSpec": {"pubobjtype": EXCEPT_TABLE, "pubtable": {"relation": relation}}}
                for relation in self.reader.range_vars(self.excepted)
            ]
        return fields


_READERS = {
    (b"alter", b"publication"): _read_alter_publication,
    (b"alter", b"subscription"): read_alter_subscription,
    (b"alter", b"table"): read_alter_table,
    (b"create", b"publication"): _read_create_publication,
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
        statement = _read_property_graph(Reader(data))
    if statement is None:
        statement = parse_without_clauses(data)
    if statement is None and (node := skipped_node(data)) is not None:
        return node, {}
    return statement


_PLACEHOLDER = "NOTIFY a"
"""A statement that PL/pgSQL runs, and that is not longer than any that it replaces."""
_BEFORE_STATEMENT = (b"", b";", b"begin", b"else", b"loop", b"then")
_FIRST = frozenset((b"alter", b"checkpoint", b"comment", b"create", b"drop", b"grant", b"repack", b"set", b"wait"))
_VARIABLES = lazy_compile(r'at or near "(?:execute|strict)"', re.IGNORECASE)


class Body(Struct, frozen=True):
    """A body in a form that the parser reads, and in characters the end of each replaced statement by its start, and
    the places of blanked clauses."""

    text: str
    ends: dict[int, int]
    blanked: list[tuple[int, int]]


class RefusedInBody(Exception):
    """The server of 19 refuses a statement of a body. ``start`` is its offset in characters."""

    def __init__(self, refusal: SyntaxRefused, start: int, statement: str) -> None:
        super().__init__(refusal.message)
        self.refusal, self.start, self.statement = refusal, start, statement


def readable(body: str) -> Body | None:
    """Return a refused body without what only 19 accepts; None if there is nothing. Raises RefusedInBody."""
    data, clauses = without_new_clauses(body.encode(errors="surrogatepass"))
    text = data.decode(errors="surrogatepass")
    if len(text) != len(body):
        # A blanked clause had letters beyond ASCII: places are those of the characters.
        return None
    ends: dict[int, int] = {}
    ascii_only = body.isascii()
    for first, last in _statements(data):
        start, end = (first, last) if ascii_only else (in_characters(data, first), in_characters(data, last))
        statement = text[start:end]
        try:
            newer = parse_newer(statement)
        except SyntaxRefused as refusal:
            raise RefusedInBody(refusal, start, statement) from None
        if newer is not None and end - start >= len(_PLACEHOLDER):
            text = text[:start] + _PLACEHOLDER.ljust(end - start) + text[end:]
            ends[start] = end
    if not ascii_only:
        clauses = [(in_characters(data, first), in_characters(data, last)) for first, last in clauses]
    return None if text == body else Body(text, ends, clauses)


def may_be_accepted(body: str, message: str) -> bool:
    """Return whether PostgreSQL 19 may accept a body that the parser refuses with this message."""
    words = [token.lower() for _, token, _ in tokens(body.encode(errors="surrogatepass"))]
    return _VARIABLES.search(message) is not None or has_newer_words(words)


def _statements(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the byte offsets of the statements of a body that may be replaced, without their semicolons."""
    before, start, end = b"", -1, 0
    for _, token, offset in tokens(data):
        word = token.lower()
        if start >= 0 and word == b";":
            yield start, end
            start = -1
        elif start < 0 and before in _BEFORE_STATEMENT and word in _FIRST:
            start = offset
        before, end = word, offset + len(token)
    if start >= 0:
        yield start, end
