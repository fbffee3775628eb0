"""The relation that INSERT, UPDATE or DELETE names, and the tables whose rows it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.checks.write.replica_identity import refusals
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.partitions import partitions
from pubcheck.simulate.executor.pruning import Pruning
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.trigger_firing import fires
from pubcheck.simulate.not_followed import NotFollowed

# The events of triggers (catalog/pg_trigger.h).
INSERT, DELETE, UPDATE, TRUNCATE = 4, 8, 16, 32
EVENTS = {"insert": INSERT, "update": UPDATE, "delete": DELETE, "truncate": TRUNCATE}


def named_relation(session: Backend, rv: Node) -> Relation:
    """The named relation. Raises ServerError 42P01."""
    row: Relation | None = session.catalog_session.find_relation(rv)
    if row is None:
        name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
        raise ServerError("42P01", f'relation "{name}" does not exist', location=rv.get("location"))
    return row


def target_relation(session: Backend, rv: Node) -> Relation:
    """The named relation. Raises ServerError 42P01, 42809 and the like."""
    row = named_relation(session, rv)
    if row.kind in "Smi":
        kinds = {"S": "sequence", "m": "materialized view", "i": "index"}
        if row.kind == "i":
            raise ServerError("42809", f'cannot open relation "{row.name}"')
        raise ServerError("42809", f'cannot change {kinds[row.kind]} "{row.name}"')
    if row.kind not in "rpv":
        raise NotFollowed(f'changes of "{row.name}", which is not a table')
    refuse_row_security(session, row)
    return row


def refuse_row_security(session: Backend, relation: Relation) -> None:
    """Raise NotFollowed if policies decide which rows the role sees and may write (check_enable_rls). Whether the role
    has BYPASSRLS is not known."""
    role = session.catalog_session
    if not relation.row_security or role.superuser():
        return
    if relation.force_row_security or not role.has_privileges_of(relation.owner):
        raise NotFollowed(f'the row-level security policies of "{relation.name}"')


def refuse_statement_triggers(session: Backend, relation: Relation, events: int) -> None:
    """Triggers of statements run also where no row changes. Raises NotFollowed."""
    catalog = session.database.catalog
    for row in catalog.others.values():
        if row.kind == "trigger" and row.namespace == relation.oid and fires(session, row, relation.oid):
            node = catalog.definitions[("trigger", row.oid)]
            if not node.get("row") and node["events"] & events:
                raise NotFollowed(f'the trigger "{row.name}" of a statement')


def refuse_write(session: Backend, table: Table, operation: Any, *, certain: bool) -> None:
    """Raise the error of an UPDATE or DELETE that the replica identity does not allow (CheckCmdReplicaIdentity), or
    NotFollowed if it is not ``certain`` that the server plans for the table."""
    causes = refusals(session.database.catalog, table.relation).get(operation)
    if causes and not certain and table.relation.partition:
        raise NotFollowed(f'whether the condition leaves out the partition "{table.relation.name}"')
    if causes:
        server = causes[0].server
        raise ServerError(server.sqlstate, server.message, detail=server.detail, hint=server.hint)


def members(
    session: Backend, relation: Relation, *, inherited: bool = True, pruning: Pruning | None = None
) -> Iterator[Table]:
    """The tables with the rows of a relation, in the order of the planner's expansion (expand_inherited_rtentry):
    partitions by their bounds, other children by their oids.

    ``pruning`` leaves out the partitions that cannot have rows that the statement's condition selects.
    """
    catalog = session.database.catalog
    if relation.kind == "p" and not inherited:
        return
    if relation.kind == "p":
        children = partitions(session, relation) if pruning is None else pruning.children(relation)
        for partition in children:
            yield from members(session, partition, pruning=pruning)
        return
    for oid in catalog.descendants(relation.oid) if inherited else [relation.oid]:
        row = catalog.relations[oid]
        if row.kind == "r":
            yield table_of(session, row)
