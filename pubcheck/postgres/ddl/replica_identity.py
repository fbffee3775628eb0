"""ALTER TABLE ... REPLICA IDENTITY (commands/tablecmds.c: ATExecReplicaIdentity, relation_mark_replica_identity)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, Index, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.relkind import not_supported_for
from pubcheck.postgres.session import Session

_RULE = "replica-identity-ddl"
_ALLOWED = "rpm"


def set_replica_identity(session: Session, relation: int, node: Node) -> None:
    """Set relreplident and, for USING INDEX, indisreplident. Raises ServerError as the server does, all judged."""
    row = session.catalog.relations[relation]
    if row.kind not in _ALLOWED:
        raise _refused(
            session,
            row,
            "42809",
            f'ALTER action REPLICA IDENTITY cannot be performed on relation "{row.name}"',
            not_supported_for(row.kind),
        )
    kind = node["identity_type"]
    _mark(session, row, kind, _index(session, row, node["name"]) if kind == "i" else None)


def _index(session: Session, row: Relation, name: str) -> Index | None:
    """The index, checked; None where it is of a table that is not visible."""
    catalog = session.catalog
    found = session.relation_in(row.namespace, name)
    if found is None:
        if not row.seen or (not session.complete and session.blind):
            session.assume(f'index "{name}", which these files do not create')
            return None
        raise _refused(session, row, "42704", f'index "{name}" for table "{row.name}" does not exist')
    session.rests_on(found)
    index = catalog.indexes.get(found.oid)
    if index is None:
        raise _refused(session, row, "42809", f'"{name}" is not an index')
    if index.table != row.oid:
        raise _refused(session, row, "42809", f'"{name}" is not an index for table "{row.name}"')
    if not index.unique:
        raise _refused(session, row, "42809", f'cannot use non-unique index "{name}" as replica identity')
    if not index.immediate:
        raise _refused(session, row, "0A000", f'cannot use non-immediate index "{name}" as replica identity')
    if index.expressions:
        raise _refused(session, row, "0A000", f'cannot use expression index "{name}" as replica identity')
    if index.partial and index.always is None:
        session.assume(f'the predicate of index "{name}" always holds')
    elif index.partial and not index.always:
        raise _refused(session, row, "0A000", f'cannot use partial index "{name}" as replica identity')
    for key in index.keys:
        column = row.columns[key - 1]
        if not column.not_null:
            session.rests_on(row)
            raise _refused(
                session,
                row,
                "42809",
                f'index "{name}" cannot be used as replica identity because column "{column.name}" is nullable',
            )
    return index


def _mark(session: Session, row: Relation, kind: str, chosen: Index | None) -> None:
    catalog = session.catalog
    if row.identity != kind:
        catalog.relations.put(row.oid, replace(row, identity=kind))
    for oid in catalog.key_indexes_of.get(row.oid):
        index = catalog.indexes[oid]
        if index.identity and index != chosen:
            catalog.put_index(replace(index, identity=False))
    if chosen is not None and not chosen.identity:
        catalog.put_index(replace(chosen, identity=True))


def refuse_nullable(session: Session, row: Relation, column: Column) -> None:
    """DROP NOT NULL: refused for a column of the index that REPLICA IDENTITY names."""
    catalog = session.catalog
    for oid in catalog.key_indexes_of.get(row.oid):
        index = catalog.indexes[oid]
        if index.identity and column.number in index.keys:
            raise _refused(session, row, "42P16", f'column "{column.name}" is in index used as replica identity')


def _refused(session: Session, row: Relation, sqlstate: str, message: str, detail: str | None = None) -> ServerError:
    error = ServerError(sqlstate, message, rule=_RULE, detail=detail, culprit=session.mentions.get(row.oid))
    error.relation = session.qualified(row)
    return error
