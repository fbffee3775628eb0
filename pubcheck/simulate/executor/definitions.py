"""DDL: its effect on the catalog, which is logged, and on rows."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.heap import Storage
from pubcheck.simulate.log import CatalogChange, CatalogVersion, entries_since


def apply_definition(session: Backend, name: str, node: Node) -> None:
    """Apply a statement to the catalog, and log it."""
    database = session.database
    before, mark = database.version(), database.catalog.journal.mark()
    apply_with_triggers(session.catalog_session, name, node)
    if name in ("CreateTableAsStmt", "ViewStmt") and "SelectStmt" in node["query"]:
        _complete_columns(session, node)
    log_change(session, name, node, before, mark)


def _complete_columns(session: Backend, node: Node) -> None:
    """Give the columns of a view, or of a table that a query fills, the types that the catalog did not work out."""
    rv = node["view"] if "view" in node else node["into"]["rel"]
    relation = session.catalog_session.find_relation(rv)
    if relation is None or all(column.type for column in relation.live()):
        return
    level = Nested(Scope(session))
    try:
        outputs = analyze_query(level, node["query"])
    except Unknowable:
        return
    if outputs is None or len(outputs) != len(relation.columns):
        return
    pairs = zip(relation.columns, outputs, strict=True)
    columns = tuple(column if column.type else replace(column, type=output.type) for column, output in pairs)
    session.database.catalog.relations.put(relation.oid, replace(relation, columns=columns))


def log_statement(session: Backend, name: str, node: Node) -> None:
    """Log a statement that changes only what the catalog does not keep here."""
    append_change(session, name, node, xid=0 if _updates_in_place(name, node) else None)


def append_change(
    session: Backend, name: str, node: Node, *, before: CatalogVersion | None = None, **fields: Any
) -> None:
    """Append the record of a change of the catalog; ``before`` is the version that it changed, if it changed one."""
    after = session.database.version()
    session.append(CatalogChange, 100, statement=name, node=node, before=before or after, after=after, **fields)


_CHANGE_MORE = frozenset(
    (
        "AlterSeqStmt", "AlterTableStmt", "ClusterStmt", "CommentStmt", "CreateStatsStmt", "CreateTrigStmt",
        "GrantStmt", "ReindexStmt", "RuleStmt", "VacuumStmt",
    )
)  # fmt: skip
"""Statements that change rows of system catalogs that pubcheck does not model."""


def log_change(session: Backend, name: str, node: Node, before: CatalogVersion, mark: int) -> None:
    """Log the changes of the catalog since a mark of its journal."""
    database = session.database
    journal, versions = database.catalog.journal, database.versions
    entries = entries_since(database.catalog, mark)
    if name not in _CHANGE_MORE and not any(versions.is_definition(entry) for entry in journal.entries[mark:]):
        return
    session.refuse_concurrent_definitions()
    xid = session.xid()
    catalog = database.catalog
    for table, key, former in entries:
        if table == "relations" and former is None and isinstance(key, int):
            relation = catalog.relations.get(key)
            if relation is not None and relation.kind in "rm":
                database.storage.put(key, Storage(xid))
    append_change(session, name, node, before=before, entries=entries)


def _updates_in_place(name: str, node: Node) -> bool:
    """VACUUM without FULL or ANALYZE changes rows of pg_class in their place, without a transaction id."""
    options = {item["DefElem"]["defname"] for item in node.get("options", ())}
    return name == "VacuumStmt" and bool(node.get("is_vacuumcmd")) and not options & {"full", "analyze"}
