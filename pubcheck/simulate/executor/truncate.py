"""TRUNCATE (commands/tablecmds.c: ExecuteTruncate), VACUUM, REINDEX, LOCK and others that do not change single rows."""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.definitions import append_change, apply_definition, log_statement
from pubcheck.simulate.executor.sequences import log_sequence, state_of
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import named_relation
from pubcheck.simulate.executor.triggers import truncate_calls
from pubcheck.simulate.heap import IN_PROGRESS, Storage
from pubcheck.simulate.log import Truncation
from pubcheck.simulate.not_followed import NotFollowed


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
