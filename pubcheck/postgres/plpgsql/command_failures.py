"""Commands that always fail inside a function, and commands that may fail because of something outside the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.plpgsql.constant_folding import words_may_fail
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import language_of

# Statements that the catalog follows, so that what they need is known, and those that need nothing.
_FOLLOWED = frozenset(
    (
        "AlterPublicationStmt", "CompositeTypeStmt", "CreateEnumStmt", "CreatePublicationStmt", "CreateSchemaStmt",
        "CreateStmt", "IndexStmt", "CreateRoleStmt", "DoStmt", "ListenStmt", "NotifyStmt", "UnlistenStmt", "SelectStmt",
    )
)  # fmt: skip
_OF_DATABASES = {
    "CreatedbStmt": "CREATE DATABASE",
    "DropdbStmt": "DROP DATABASE",
    "CreateTableSpaceStmt": "CREATE TABLESPACE",
    "DropTableSpaceStmt": "DROP TABLESPACE",
    "AlterSystemStmt": "ALTER SYSTEM",
}


def refused_in_function(name: str, node: Node, *, in_block: bool) -> ServerError | None:
    """Return the error of PreventInTransactionBlock, or of PL/pgSQL's executor, for a command in a function.

    ``in_block``: the command runs in a transaction block, or in a block with handlers.
    """
    if name == "CopyStmt" and "filename" not in node:
        return ServerError("0A000", "cannot COPY to/from client in PL/pgSQL")
    command = _OF_DATABASES.get(name)
    if name == "VacuumStmt" and node.get("is_vacuumcmd"):
        command = "VACUUM"
    elif name == "IndexStmt" and node.get("concurrent"):
        command = "CREATE INDEX CONCURRENTLY"
    elif name == "DropStmt" and node.get("concurrent"):
        command = "DROP INDEX CONCURRENTLY"
    elif name == "DiscardStmt" and node.get("target") == "DISCARD_ALL":
        command = "DISCARD ALL"
    elif name == "ReindexStmt" and any(
        item.get("DefElem", {}).get("defname") == "concurrently" for item in node.get("params", ())
    ):
        command = "REINDEX CONCURRENTLY"
    if command is None:
        return None
    words = "cannot run inside a transaction block" if in_block else "cannot be executed from a function"
    return ServerError("25001", f"{command} {words}")


def may_fail(session: Session, name: str, node: Node) -> bool:
    """Return whether a command that was followed, or skipped, may have failed on the server.

    Raises ServerError where a relation that it names certainly does not exist.
    """
    if name in _FOLLOWED:
        return False
    if name in ("TruncateStmt", "LockStmt"):
        return not _all_known(session, [item["RangeVar"] for item in node.get("relations", ())])
    if name == "CommentStmt":
        return not _commented(session, node)
    if name == "GrantStmt":
        return not _granted(session, node)
    if name == "VariableSetStmt":
        return not _settable(node)
    if name in ("ViewStmt", "CreateTableAsStmt"):
        return words_may_fail(node["query"])
    if name == "AlterTableStmt":
        return any(_alteration_may_fail(item["AlterTableCmd"]) for item in node.get("cmds", ()))
    if name == "DropStmt":
        return not node.get("missing_ok") and node["removeType"] not in _RELATIONS
    if name in ("AlterOwnerStmt", "AlterObjectSchemaStmt", "RenameStmt"):
        return node.get("objectType", node.get("renameType")) not in _RELATIONS
    if name in ("CreateSeqStmt", "AlterSeqStmt"):
        return "options" in node
    if name == "CreatePolicyStmt":
        return "qual" in node or "with_check" in node
    if name == "CreateFunctionStmt":
        return language_of(node, "options") != "plpgsql"
    if name == "AlterEnumStmt":
        return not session.complete
    return True


def _alteration_may_fail(command: Node) -> bool:
    subtype, name = command["subtype"], command.get("name")
    if subtype == "AT_SetTableSpace":
        return bool(name != "pg_default")
    if subtype == "AT_SetAccessMethod":
        return name not in (None, "heap")
    return subtype in _UNFOLLOWED


_RELATIONS = frozenset(
    f"OBJECT_{word}"
    for word in ("TABLE", "VIEW", "MATVIEW", "INDEX", "SEQUENCE", "PUBLICATION", "SCHEMA", "COLUMN", "TABCONSTRAINT")
)
_UNFOLLOWED = frozenset(
    (
        "AT_EnableTrig", "AT_EnableAlwaysTrig", "AT_EnableReplicaTrig", "AT_DisableTrig", "AT_EnableRule",
        "AT_EnableAlwaysRule", "AT_EnableReplicaRule", "AT_DisableRule", "AT_GenericOptions",
        "AT_SetStorage", "AT_SetCompression",
    )
)  # fmt: skip
"""Parts of ALTER TABLE that change nothing that the catalog keeps, and name something or take a value."""


def _all_known(session: Session, tables: Iterable[Node]) -> bool:
    rows = [session.find_relation(table) for table in tables]
    return all(row is not None and row.seen for row in rows)


def _commented(session: Session, node: Node) -> bool:
    kind, object_node = node["objtype"], node["object"]
    if kind == "OBJECT_PUBLICATION":
        return True
    path = (
        names(object_node["List"]["items"])
        if "List" in object_node and kind in ("OBJECT_TABLE", "OBJECT_COLUMN")
        else []
    )
    if not path:
        return False
    column = path.pop() if kind == "OBJECT_COLUMN" else None
    row = session.find_relation(_range(path)) if path else None
    return row is not None and row.seen and (column is None or row.column(column) is not None)


def _range(path: list[str]) -> Node:
    return {"relname": path[-1], **({"schemaname": path[-2]} if len(path) > 1 else {})}


def _granted(session: Session, node: Node) -> bool:
    if node.get("targtype") not in (None, "ACL_TARGET_OBJECT") or node.get("objtype") != "OBJECT_TABLE":
        return False
    if not _all_known(session, [item["RangeVar"] for item in node.get("objects", ()) if "RangeVar" in item]):
        return False
    roles = [item["RoleSpec"] for item in node.get("grantees", ())]
    catalog = session.catalog
    for role in roles:
        if role["roletype"] == "ROLESPEC_CSTRING":
            oid = catalog.role_names.get(role["rolename"])
            if oid is None or not catalog.roles[oid].seen:
                return False
    return True


_SETTABLE = frozenset(
    (
        "check_function_bodies", "client_min_messages", "default_tablespace", "default_table_access_method",
        "idle_in_transaction_session_timeout", "lock_timeout", "maintenance_work_mem", "row_security", "search_path",
        "session_replication_role", "standard_conforming_strings", "statement_timeout", "synchronous_commit",
        "timezone", "transaction_timeout", "work_mem", "xmloption",
    )
)  # fmt: skip


def _settable(node: Node) -> bool:
    """Return whether a setting that everybody may set gets a value that it surely accepts: a number, a word for a
    number, or names."""
    name = node.get("name", "").lower()
    if node["kind"] in ("VAR_SET_DEFAULT", "VAR_RESET"):
        return name in _SETTABLE or "." in name
    if node["kind"] != "VAR_SET_VALUE":
        return False
    if "." in name or name == "search_path":
        return True
    return name in _SETTABLE and all(map(_is_amount, node.get("args", ())))


def _is_amount(node: Node) -> bool:
    constant = node.get("A_Const", {})
    string = constant.get("sval", {}).get("sval", "")
    return "ival" in constant or _AMOUNT.fullmatch(string) is not None


_AMOUNT = re.compile(r"\d+\s?(?:kB|MB|GB|ms|s|min|h)?|on|off|true|false|UTC|warning|error|notice|replica|origin|local")
