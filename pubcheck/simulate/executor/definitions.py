"""DDL: its effect on the catalog, which is logged, and on rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.postgres.parse import Node
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.simulate.heap import Storage
from pubcheck.simulate.log import CatalogChange, CatalogVersion, entries_since

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession


def define(session: ServerSession, name: str, node: Node) -> Result:
    """Apply a statement to the catalog, and log it."""
    from pubcheck.simulate.session import NOTHING

    database = session.database
    journal = database.catalog.journal
    before, mark = database.version(), journal.mark()
    apply_with_triggers(session.catalog_session, name, node)
    log_change(session, name, node, before, mark)
    return NOTHING


def log_change(session: ServerSession, name: str, node: Node, before: CatalogVersion, mark: int) -> None:
    """Log the changes of the catalog since a mark of its journal."""
    database = session.database
    journal, versions = database.catalog.journal, database.versions
    entries = entries_since(database.catalog, mark)
    if not any(versions.is_definition(entry) for entry in journal.entries[mark:]):
        return
    session.refuse_concurrent_definitions()
    xid = session.xid()
    catalog = database.catalog
    for table, key, former in entries:
        if table == "relations" and former is None and isinstance(key, int):
            relation = catalog.relations.get(key)
            if relation is not None and relation.kind in "rm":
                database.storage.put(key, Storage(xid))
    database.append(
        CatalogChange,
        100,
        xid=xid,
        top=session.current.top,
        origin=session.origin,
        statement=name,
        node=node,
        entries=entries,
        before=before,
        after=database.version(),
    )
