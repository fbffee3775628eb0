"""DDL: its effect on the catalog, which is logged, and whether the rows that are there satisfy it: keys, NOT NULL,
CHECK, foreign keys, bounds of partitions (tablecmds.c: ATRewriteTable, validateForeignKeyConstraint; nbtsort.c).

TRUNCATE (tablecmds.c: ExecuteTruncate), VACUUM, REINDEX, LOCK and others that do not change single rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.catalog import AUTO, FIRST_NORMAL_OID, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.foreign_keys import ForeignKey
from pubcheck.simulate.executor.partitions import partitioning
from pubcheck.simulate.executor.row_operations import check_partition
from pubcheck.simulate.executor.row_text import key_text
from pubcheck.simulate.executor.sequences import log_sequence, state_of
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import members, named_relation
from pubcheck.simulate.executor.triggers import truncate_calls
from pubcheck.simulate.heap import IN_PROGRESS, Storage, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import CatalogChange, CatalogVersion, Truncation, entries_since


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


def truncate(session: Backend, node: Node) -> Result:
    catalog = session.database.catalog
    relations: dict[int, Relation] = {}
    for item in node["relations"]:
        rv = item["RangeVar"]
        row = named_relation(session, rv)
        if row.kind not in "rp":
            raise ServerError("42809", f'"{row.name}" is not a table')
        if row.oid in relations:
            continue
        relations[row.oid] = row
        if rv.get("inh", False):
            for oid in catalog.descendants(row.oid)[1:]:
                relations.setdefault(oid, catalog.relations[oid])
        elif row.kind == "p":
            raise ServerError(
                "42809",
                "cannot truncate only a partitioned table",
                hint="Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.",
            )
    cascade = node.get("behavior") == "DROP_CASCADE"
    if cascade:
        _add_referencing(session, relations)
    else:
        _refuse_referenced(session, relations)
    restart = node.get("restart_seqs", False)
    calls = [truncate_calls(session, row) for row in relations.values()]
    for call in (call for before, _ in calls for call in before):
        session.increment_command()
        call()
    _truncate_all(session, node, list(relations.values()), cascade=cascade, restart=restart)
    for call in (call for _, after in calls for call in after):
        session.increment_command()
        call()
    return NOTHING


def _referencing(session: Backend, relations: dict[int, Relation]) -> list[int]:
    """heap_truncate_find_FKs: the other tables with a foreign key to one of these, by oid."""
    catalog = session.database.catalog
    return sorted(
        {
            row.relation
            for row in catalog.constraints.values()
            if row.kind == "f" and row.references in relations and row.relation not in relations
        }
    )


def _add_referencing(session: Backend, relations: dict[int, Relation]) -> None:
    while new := _referencing(session, relations):
        for oid in new:
            relations[oid] = session.database.catalog.relations[oid]


def _refuse_referenced(session: Backend, relations: dict[int, Relation]) -> None:
    """heap_truncate_check_FKs. Raises ServerError 0A000."""
    catalog = session.database.catalog
    for row in catalog.constraints.values():
        if row.kind == "f" and row.references in relations and row.relation not in relations:
            other, own = catalog.relations[row.relation], relations[row.references]
            raise ServerError(
                "0A000",
                "cannot truncate a table referenced in a foreign key constraint",
                detail=f'Table "{other.name}" references "{own.name}".',
                hint=f'Truncate table "{other.name}" at the same time, or use TRUNCATE ... CASCADE.',
            )


def _refuse_other_writers(session: Backend, table: Table) -> None:
    """Raise NotFollowed if another open transaction has changed rows, whose lock of the table TRUNCATE waits for."""
    states, own = session.database.xids.states, session.current.ids
    for version in table.storage.scan():
        for xid in (version.xmin, version.xmax):
            if xid and xid not in own and states[xid] == IN_PROGRESS:
                raise NotFollowed("the statement waits for another transaction")


def _truncate_all(session: Backend, node: Node, relations: list[Relation], *, cascade: bool, restart: bool) -> None:
    database = session.database
    logged = [row.oid for row in relations if row.persistence == "p" and row.kind in "rp"]
    if restart:
        for row in relations:
            _restart_sequences(session, row)
    ids = set(session.current.levels[-1].ids())
    new_files: set[int] = set()
    in_place: set[int] = set()
    for row in relations:
        if row.kind != "r":
            continue
        table = table_of(session, row)
        _refuse_other_writers(session, table)
        if table.storage.made_by not in ids:
            database.storage.put(row.oid, Storage(session.xid()))
            new_files.add(row.oid)
            continue
        database.storage.put(row.oid, Storage(table.storage.made_by))
        if not database.catalog.indexes_of.get(row.oid):  # building an index again changes the table's row of pg_class
            in_place.add(row.oid)
    session.xid()
    if new_files:
        append_change(session, "TruncateStmt", node, new_files=frozenset(new_files))
    if logged:
        session.append(
            Truncation,
            12 + 4 * len(logged),
            relations=tuple(logged),
            cascade=cascade,
            restart_identity=restart,
            version=database.version(),
            in_place=frozenset(in_place),
        )


def _restart_sequences(session: Backend, row: Relation) -> None:
    """RESTART IDENTITY: the sequences that columns own begin again, unless the transaction is rolled back."""
    catalog = session.database.catalog
    for dependent, _, kind in catalog.dependents.get((RELATION, row.oid)):
        if dependent[0] != RELATION or kind not in (AUTO, INTERNAL):
            continue
        sequence = catalog.relations.get(dependent[1])
        if sequence is not None and sequence.kind == "S":
            state = state_of(session, sequence.oid).copy()
            state.restart()
            session.database.sequences.put(sequence.oid, state)
            log_sequence(session, sequence)


def vacuum(session: Backend, node: Node) -> Result:
    """VACUUM and ANALYZE of tables; of all tables if none is named."""
    if node.get("is_vacuumcmd") and not session.current.implicit:
        raise ServerError("25001", "VACUUM cannot run inside a transaction block")
    for item in node.get("rels", ()):
        named_relation(session, item["VacuumRelation"]["relation"])
    log_statement(session, "VacuumStmt", node)
    return NOTHING


def reindex(session: Backend, node: Node) -> Result:
    """REINDEX TABLE gives the table's indexes new files."""
    if node["kind"] != "REINDEX_OBJECT_TABLE" or "params" in node:
        raise NotFollowed("REINDEX of anything but a table, or with options")
    apply_definition(session, "ReindexStmt", node)
    return NOTHING


def nothing(session: Backend, node: Node) -> Result:
    return NOTHING


def lock(session: Backend, node: Node) -> Result:
    """LOCK TABLE: nobody waits here, and an access exclusive lock of a table needs a transaction id."""
    if session.current.implicit:
        raise ServerError("25P01", "LOCK TABLE can only be used in transaction blocks")
    for item in node["relations"]:
        named_relation(session, item["RangeVar"])
    if node.get("mode") == 8:
        session.top_xid()
    return nothing(session, node)


def explain(session: Backend, node: Node) -> Result:
    """EXPLAIN, which runs nothing without ANALYZE."""
    if any(item["DefElem"]["defname"] == "analyze" for item in node.get("options", ())):
        raise NotFollowed("EXPLAIN ANALYZE")
    apply(session.catalog_session, "ExplainStmt", node)
    return NOTHING


def discard(session: Backend, node: Node) -> Result:
    """DISCARD PLANS and SEQUENCES."""
    if node["target"] == "DISCARD_SEQUENCES":
        session.sequence_values.clear()
        session.last_sequence = 0
    elif node["target"] != "DISCARD_PLANS":
        raise NotFollowed("DISCARD ALL and DISCARD TEMP")
    return NOTHING
