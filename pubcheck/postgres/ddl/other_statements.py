"""Statements that define nothing.

Some change nothing that is kept here, of some the effect is unknown. INSERT, UPDATE, DELETE, MERGE and TRUNCATE
concern the catalog where their relations and columns certainly do not exist, and where a superuser changes the system
catalogs by hand: that is followed where it changes the validity of an index, and otherwise unknown. Last are the
statements that a read-only transaction refuses (tcop/utility.c: ClassifyUtilityCommandAsReadOnly).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import PG_CATALOG
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
