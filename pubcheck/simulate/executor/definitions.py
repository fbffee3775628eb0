"""DDL: its effect on the catalog, which is logged, and whether the rows that are there satisfy it: keys, NOT NULL,
CHECK, foreign keys, bounds of partitions (tablecmds.c: ATRewriteTable, validateForeignKeyConstraint; nbtsort.c)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.foreign_keys import ForeignKey
from pubcheck.simulate.executor.partitions import partitioning
from pubcheck.simulate.executor.row_operations import check_partition
from pubcheck.simulate.executor.row_text import key_text
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import members
from pubcheck.simulate.heap import Storage, Version
from pubcheck.simulate.log import CatalogChange, CatalogVersion, entries_since
from pubcheck.simulate.not_followed import NotFollowed


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


def define_and_check(session: Backend, name: str, node: Node) -> None:
    """Apply a definition, and check the rows that are there."""
    mark = session.database.catalog.journal.mark()
    if name == "AlterDomainStmt" and node["subtype"] in "COV":
        _refuse_values_of_types(session)
    apply_definition(session, name, node)
    check_new_constraints(session, mark)


def _refuse_values_of_types(session: Backend) -> None:
    """Whether values of a domain satisfy a new constraint is not followed."""
    for relation in session.database.catalog.relations.values():
        has_type = relation.kind == "r" and any(column.type >= FIRST_NORMAL_OID for column in relation.live())
        if has_type and live_rows(session, table_of(session, relation)):
            raise NotFollowed("whether values satisfy a new constraint of their domain")


def check_new_constraints(session: Backend, mark: int) -> None:
    """Check what changed since a mark of the catalog's journal. Raises ServerError 23505, 23502, 23514, 23503."""
    former: dict[tuple[str, Any], Any] = {}
    for table, key, row in entries_since(session.database.catalog, mark):
        former.setdefault((table, key), row)
    _check_indexes(session, former)
    _check_not_null(session, former)
    _check_conditions(session, former)
    _check_bounds(session, former)
    _check_foreign_keys(session, former)


def live_rows(session: Backend, table: Table) -> list[Version]:
    """The rows of a table as a definition sees them: also those of earlier statements of its transaction."""
    snapshot = session.snapshot()
    snapshot.command += 1
    return [version for version in table.storage.scan() if snapshot.sees(version)]


def null_values(table: Table, name: str) -> ServerError:
    return ServerError("23502", f'column "{name}" of relation "{table.relation.name}" contains null values')


def _changed(session: Backend, former: dict[tuple[str, Any], Any], kind: str) -> Iterator[tuple[Any, Any]]:
    """The rows of a system catalog that changed, each with the one before."""
    rows = getattr(session.database.catalog, kind)
    for (table, key), before in former.items():
        if table == kind and key in rows:
            yield before, rows[key]


def _check_indexes(session: Backend, former: dict[tuple[str, Any], Any]) -> None:
    catalog = session.database.catalog
    for before, index in _changed(session, former, "indexes"):
        relation = catalog.relations[index.table]
        if (before is not None and before.unique and before.valid) or relation.kind not in "rm":
            continue
        table = table_of(session, relation)
        rows = live_rows(session, table)
        if len(rows) < 2 or not (index.unique or index.exclusion):
            continue
        if index.exclusion:
            _check_exclusion(table, index.oid, rows)
            continue
        unique = next(unique for unique in table.uniques if unique.index.oid == index.oid)
        key_of, seen = unique.key_of(), set()
        for version in rows:
            key = key_of(version)
            if key is not None and key in seen:
                raise ServerError(
                    "23505",
                    f'could not create unique index "{unique.name}"',
                    detail=None if index.expressions else f"Key {key_text(table, index.keys, version)} is duplicated.",
                )
            seen.add(key)


def _check_exclusion(table: Table, oid: int, rows: list[Version]) -> None:
    exclusion = next(exclusion for exclusion in table.exclusions if exclusion.index.oid == oid)
    for place, version in enumerate(rows):
        if any(exclusion.conflicts(version, rows[:place])):
            raise ServerError("23P01", f'could not create exclusion constraint "{exclusion.name}"')


def _check_not_null(session: Backend, former: dict[tuple[str, Any], Any]) -> None:
    for before, relation in _changed(session, former, "relations"):
        if relation.kind != "r" or before is None:
            continue
        table = table_of(session, relation)
        had = {column.number for column in before.columns if column.not_null}
        columns = [column for column in table.not_null if column.number not in had and column.generated != "v"]
        for version in live_rows(session, table) if columns else ():
            for column in columns:
                if version.get(column.number) is None:
                    raise null_values(table, column.name)


def _check_conditions(session: Backend, former: dict[tuple[str, Any], Any]) -> None:
    catalog = session.database.catalog
    for before, row in _changed(session, former, "constraints"):
        is_new = row.validated and (before is None or not before.validated)
        if row.kind != "c" or not is_new or catalog.relations[row.relation].kind != "r":
            continue
        table = table_of(session, catalog.relations[row.relation])
        check = next((check for check in table.checks if check.name == row.name), None)
        if check is not None and any(check.holds(version) is False for version in live_rows(session, table)):
            message = f'check constraint "{row.name}" of relation "{table.relation.name}" is violated by some row'
            raise ServerError("23514", message)


def _check_bounds(session: Backend, former: dict[tuple[str, Any], Any]) -> None:
    """The rows of a new partition, and those of the default partition that belong to the new one."""
    catalog = session.database.catalog
    for before, relation in _changed(session, former, "relations"):
        if relation.kind not in "rp" or not relation.partition or (before is not None and before.partition):
            continue
        if before is not None:
            _check_members(session, relation, 'partition constraint of relation "{}" is violated by some row')
        default = partitioning(session, catalog.relations[relation.parents[0]]).default
        if default is not None and default.oid != relation.oid:
            message = 'updated partition constraint for default partition "{}" would be violated by some row'
            _check_members(session, default, message)


def _check_members(session: Backend, relation: Relation, message: str) -> None:
    for table in members(session, relation):
        for version in live_rows(session, table):
            try:
                check_partition(session, table, version)
            except ServerError:
                raise ServerError("23514", message.format(table.relation.name)) from None


def _check_foreign_keys(session: Backend, former: dict[tuple[str, Any], Any]) -> None:
    catalog = session.database.catalog
    for before, row in _changed(session, former, "constraints"):
        is_new = row.validated and (before is None or not before.validated)
        if row.kind != "f" or not row.enforced or not is_new or catalog.relations[row.relation].kind != "r":
            continue
        table = table_of(session, catalog.relations[row.relation])
        key = ForeignKey(session, row)
        for version in live_rows(session, table):
            check = key.check_event(table, None, version)
            if check is not None:
                check()
