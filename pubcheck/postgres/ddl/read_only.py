"""Statements that a read-only transaction refuses (tcop/utility.c: ClassifyUtilityCommandAsReadOnly)."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node

_WRITES = ("DeleteStmt", "InsertStmt", "MergeStmt", "TruncateStmt", "UpdateStmt")  # perhaps of a temporary table
_ALLOWED = frozenset(
    ("CallStmt", "Connect", "DiscardStmt", "DoStmt", "ExplainStmt", "TransactionStmt", "VariableSetStmt", *_WRITES)
)
_OF_PUBLICATIONS = {
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
    if name in _OF_PUBLICATIONS:
        field, command = _OF_PUBLICATIONS[name]
        return command if node.get(field) == "OBJECT_PUBLICATION" else ""
    commands = (item["AlterTableCmd"]["subtype"] for item in node.get("cmds", ()))
    return "ALTER TABLE" if "AT_ReplicaIdentity" in commands else ""
