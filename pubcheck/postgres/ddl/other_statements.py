"""Statements of which little is kept, or nothing.

Foreign servers and tables have a name (commands/foreigncmds.c). A property graph (commands/propgraphcmds.c) is a
relation that publications and REPLICA IDENTITY refuse, and keeps its tables from being dropped without CASCADE. Of some
statements the effect is unknown. INSERT, UPDATE, DELETE, MERGE and TRUNCATE concern the catalog where their relations
and columns certainly do not exist, and where a superuser changes the system catalogs by hand: that is followed where it
changes the validity of an index, and otherwise unknown. Last are the statements that a read-only transaction refuses
(tcop/utility.c: ClassifyUtilityCommandAsReadOnly).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import INTERNAL, NORMAL, OTHER, PG_CATALOG, RELATION
from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.ddl.new_objects import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.tables import create_table
from pubcheck.postgres.ddl.types import free_row_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.session import Session


def nothing(session: Session, node: Node) -> None:
    """Change nothing."""


def unknown_effect(session: Session, node: Node) -> None:
    """Import a foreign server's tables: from here on a missing name may exist."""
    session.blind = True


def call(session: Session, node: Node) -> None:
    """CALL: the body of a procedure is not followed here."""
    from pubcheck.postgres.ddl.functions import run_called_functions

    session.blind = True
    run_called_functions(session, node)


def do_block(session: Session, node: Node) -> None:
    """DO: the block is not followed here; the objects that it creates are unknown."""
    session.note_unknown_effect(session.text.decode(errors="replace"))


def missing_target(session: Session, name: str, node: Node) -> ServerError | None:
    """Return the server's error for a change of rows of a relation, or of columns, that certainly do not exist."""
    rv = node.get("relation")
    if rv is None or "catalogname" in rv:
        return None
    row = session.find_relation(rv)
    if row is None:
        if not session.complete or session.blind or session.extensions:
            return None
        relation_name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
        return ServerError("42P01", f'relation "{relation_name}" does not exist', location=rv.get("location"))
    if not row.seen or row.kind not in "rp" or session.blind or not row.columns:
        return None  # of the server's own catalogs no columns are kept
    targets = node.get(_TARGETS.get(name, ""), ())
    for target in targets:
        column = target["ResTarget"]["name"]
        if row.column(column) is None:
            message = f'column "{column}" of relation "{row.name}" does not exist'
            return ServerError("42703", message, location=target["ResTarget"].get("location"))
    return None


_TARGETS = {"InsertStmt": "cols", "UpdateStmt": "targetList"}


_OF_PUBLICATIONS = frozenset(("pg_publication", "pg_publication_namespace", "pg_publication_rel"))
_OF_IDENTITIES = {
    "pg_attribute": ("attname", "attnotnull", "attisdropped", "attgenerated"),
    "pg_class": ("relname", "relkind", "relpersistence", "relreplident"),
    "pg_index": ("indimmediate", "indisprimary", "indisreplident", "indisunique", "indisvalid", "indkey"),
}
"""Catalogs that say what identifies a table's rows, and the columns that do."""


def change(session: Session, node: Node) -> None:
    """Follow INSERT, UPDATE, DELETE, MERGE or TRUNCATE of a catalog: what depends on it is no longer certain.

    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass is a common way to mark a broken index.
    """
    targets = [item["ResTarget"].get("name", "") for item in node.get("targetList", ())]
    if targets == ["indisvalid"] and node["relation"]["relname"] == "pg_index" and _marked(session, node):
        return
    relations = [node["relation"]] if "relation" in node else [item["RangeVar"] for item in node.get("relations", ())]
    for row in map(session.find_relation, relations):
        if row is None or row.namespace != PG_CATALOG or not session.superuser():
            continue
        session.blind = True
        columns = _OF_IDENTITIES.get(row.name, ())
        session.healed = session.healed or (bool(columns) and (not targets or any(name in columns for name in targets)))
        if row.name in _OF_PUBLICATIONS:
            session.joined = True
            session.doubt_publications()


def _marked(session: Session, node: Node) -> bool:
    """Return whether an index was said to be (in)valid, or nothing was."""
    constants = [
        body["sval"]["sval"] for _, body in find(node.get("whereClause"), "A_Const") if body.get("sval", {}).get("sval")
    ]
    value = node["targetList"][0]["ResTarget"].get("val", {}).get("A_Const", {}).get("boolval")
    if len(constants) != 1 or value is None:
        return False
    relation = session.regclass(constants[0])
    index = session.catalog.indexes.get(relation.oid) if relation is not None else None
    if index is not None:
        session.catalog.put_index(replace(index, valid=value.get("boolval", False)))
        return True
    if session.complete and relation is None:
        raise ServerError("42P01", f'relation "{constants[0]}" does not exist')
    return session.complete  # only an index has a row to change


_WRITES = ("DeleteStmt", "InsertStmt", "MergeStmt", "TruncateStmt", "UpdateStmt")  # perhaps of a temporary table
_ALLOWED = frozenset(
    ("CallStmt", "Connect", "DiscardStmt", "DoStmt", "ExplainStmt", "TransactionStmt", "VariableSetStmt", *_WRITES)
)
_OF_ANY_KIND = {
    "AlterOwnerStmt": ("objectType", "ALTER PUBLICATION"),
    "CommentStmt": ("objtype", "COMMENT"),
    "DropStmt": ("removeType", "DROP PUBLICATION"),
    "RenameStmt": ("renameType", "ALTER PUBLICATION"),
}
"""Statements about any kind of object: the field that says which, and the command's name if that is a publication."""


def refuse_changes(name: str, node: Node) -> None:
    """Raise ServerError 25006 for a statement that changes a catalog; only those about publications are reported."""
    if name in _ALLOWED or (name == "SelectStmt" and "intoClause" not in node):
        return
    command = _command(name, node)
    raise ServerError(
        "25006",
        "cannot execute {command} in a read-only transaction",
        key="read-only-transaction" if command else None,
        command=command or "this",
    )


def _command(name: str, node: Node) -> str:
    """The command's name (PreventCommandIfReadOnly); "" for what is only followed."""
    if name in ("CreatePublicationStmt", "AlterPublicationStmt"):
        return f"{name[:-15].upper()} PUBLICATION"
    if name in _OF_ANY_KIND:
        field, command = _OF_ANY_KIND[name]
        return command if node.get(field) == "OBJECT_PUBLICATION" else ""
    commands = (item["AlterTableCmd"]["subtype"] for item in node.get("cmds", ()))
    return "ALTER TABLE" if "AT_ReplicaIdentity" in commands else ""


WRAPPER, SERVER = "foreign-data wrapper", "server"
"""Other.kind; the words of getObjectDescription. Neither lives in a schema: namespace 0."""


def create_wrapper(session: Session, node: Node) -> None:
    """CREATE FOREIGN DATA WRAPPER. Raises ServerError 42501, 42710."""
    name = node["fdwname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create foreign-data wrapper "{name}"')
    create_other(session, WRAPPER, name)


def create_server(session: Session, node: Node) -> None:
    """CREATE SERVER; its wrapper may come from an extension, whose members are not kept.

    Raises ServerError 42710.
    """
    catalog, name = session.catalog, node["servername"]
    if node.get("if_not_exists") and (SERVER, 0, name) in catalog.other_names:
        session.notices.append(f'server "{name}" already exists, skipping')
        return
    server = create_other(session, SERVER, name)
    wrapper = catalog.other_names.get((WRAPPER, 0, node["fdwname"]))
    if wrapper is not None:
        catalog.depend(server, (OTHER, wrapper, 0), NORMAL)


def create_foreign_table(session: Session, node: Node) -> None:
    """CREATE FOREIGN TABLE, also as a partition."""
    if all_objects_known(session) and (SERVER, 0, node["servername"]) not in session.catalog.other_names:
        raise ServerError("42704", f'server "{node["servername"]}" does not exist')
    create_table(session, node["base"], kind="f")


_OF = " of property graph "
"""What is between the names of an element and of its graph."""


def create_graph(session: Session, node: Node) -> None:
    """CreatePropGraph. Raises ServerError."""
    catalog, rv = session.catalog, node["pgname"]
    namespace, persistence = session.creation_target(rv, optional=False)
    former = session.relation_in(namespace, rv["relname"])
    if former is not None:
        if former.seen:
            raise ServerError("42P07", 'relation "{name}" already exists', name=rv["relname"])
        session.note_unknown_effect(session.text.decode(errors="replace"))
        return
    free_row_type_name(session, namespace, rv["relname"])
    tables = [session.relation(element["table"]) for element in node["elements"]]
    owner = session.setting("role")
    graph = Relation(
        catalog.new_oid(),
        rv["relname"],
        namespace,
        "g",
        owner,
        persistence=persistence,
        identity="n",
        seen=session.basis.certain,
        place=session.place(rv.get("location", 0)),
    )
    catalog.add_relation(graph)
    _add_elements(session, graph, node["elements"], tables)


def alter_graph(session: Session, node: Node) -> None:
    """AlterPropGraph. Raises ServerError."""
    catalog, graph = session.catalog, session.relation(node["pgname"])
    if graph.kind != "g":
        if graph.seen:
            raise ServerError("42809", '"{name}" is not a property graph', name=graph.name)
        session.note_unknown_effect(session.text.decode(errors="replace"))
        return
    _add_elements(session, graph, node["elements"], [session.relation(item["table"]) for item in node["elements"]])
    for (kind, oid, _), _, _ in catalog.dependents.get((RELATION, graph.oid)):
        if kind == OTHER and catalog.others[oid].name.rpartition(_OF)[0] in node["dropped"]:
            catalog.remove(OTHER, oid)


def _add_elements(session: Session, graph: Relation, elements: list[Node], tables: list[Relation]) -> None:
    catalog = session.catalog
    for element, table in zip(elements, tables, strict=True):
        name = element["name"] + _OF + graph.name
        row = OtherObject(catalog.new_oid(), element["kind"], name, 0, graph.owner)
        catalog.add(row)
        catalog.depend((OTHER, row.oid, 0), (RELATION, graph.oid, 0), INTERNAL)
        catalog.depend((OTHER, row.oid, 0), (RELATION, table.oid, 0), NORMAL)
