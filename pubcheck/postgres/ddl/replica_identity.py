"""ALTER TABLE ... REPLICA IDENTITY (commands/tablecmds.c: ATExecReplicaIdentity, relation_mark_replica_identity), and
REPACK (commands/repack.c): CONCURRENTLY reads the changes of other sessions from the log, and finds their rows by the
replica identity. It changes nothing that is kept here.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, Index, Relation
from pubcheck.postgres.ddl.object_descriptions import not_alterable
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

IN_IDENTITY = 'column "{column}" is in index used as replica identity'
_ALLOWED = "rpm"


def set_replica_identity(session: Session, relation: int, node: Node) -> None:
    """Set relreplident and, for USING INDEX, indisreplident. Raises ServerError as the server does; all of these
    refusals are reported.
    """
    row = session.catalog.relations[relation]
    kind = node["identity_type"]
    _mark(session, row, kind, _index(session, row, node["name"]) if kind == "i" else None)


def refuse_kind(session: Session, row: Relation) -> None:
    """Refuse a relation that cannot have a replica identity."""
    if row.kind not in _ALLOWED:
        error = not_alterable("REPLICA IDENTITY", row, key="kind-without-identity")
        error.culprit, error.relation = session.mentions.get(row.oid), session.qualified(row)
        raise error


def _index(session: Session, row: Relation, name: str) -> Index | None:
    """The index, checked; None where it is of a table that is not visible."""
    catalog = session.catalog
    relation = session.relation_in(row.namespace, name)
    if relation is None:
        if not row.seen or (not session.complete and session.blind):
            session.assume(f'index "{name}", which these files do not create')
            return None
        raise _refused(
            session,
            row,
            "42704",
            'index "{index}" for table "{relation}" does not exist',
            "no-identity-index",
            index=name,
        )
    session.rests_on(relation)
    index = catalog.indexes.get(relation.oid)
    if index is None:
        raise _refused(session, row, "42809", '"{index}" is not an index', "identity-not-an-index", index=name)
    if index.table != row.oid:
        raise _refused(
            session,
            row,
            "42809",
            '"{index}" is not an index for table "{relation}"',
            "identity-index-elsewhere",
            index=name,
        )
    _require_form(session, row, index, name)
    _require_not_null(session, row, index, name)
    return index


def _require_form(session: Session, row: Relation, index: Index, name: str) -> None:
    """Refuse an index that does not identify every row."""
    for wrong, word, sqlstate, key in (
        (not index.unique, "non-unique", "42809", "identity-index-not-unique"),
        (not index.immediate, "non-immediate", "0A000", "identity-index-deferrable"),
        (bool(index.expressions), "expression", "0A000", "identity-index-expression"),
        (index.partial and index.always is False, "partial", "0A000", "identity-index-partial"),
    ):
        if wrong:
            message = f'cannot use {word} index "{{index}}" as replica identity'
            raise _refused(session, row, sqlstate, message, key, index=name)
    if index.partial and index.always is None:
        session.assume(f'whether the predicate of index "{name}" always holds')


def _require_not_null(session: Session, row: Relation, index: Index, name: str) -> None:
    """Refuse an index over a column that can be NULL."""
    for key in index.keys:
        column = row.columns[key - 1]
        if not column.not_null:
            session.rests_on(row)
            raise _refused(
                session,
                row,
                "42809",
                'index "{index}" cannot be used as replica identity because column "{column}" is nullable',
                "identity-index-nullable",
                index=name,
                column=column.name,
            )
        held = column.constraint
        if held is not None and not held.validated and session.catalog.major.identity_needs_valid_not_null:
            session.rests_on(row)
            error = _refused(
                session,
                row,
                "55000",
                'cannot use index "{index}" as replica identity',
                "identity-index-not-valid",
                index=name,
                column=column.name,
                constraint=held.name,
            )
            error.detail = f'The constraint "{held.name}" on column "{column.name}" is marked NOT VALID.'
            error.hint = "You might need to validate it using ALTER TABLE ... VALIDATE CONSTRAINT."
            raise error


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
            raise _refused(session, row, "42P16", IN_IDENTITY, "column-of-identity", column=column.name)


def _refused(session: Session, row: Relation, sqlstate: str, message: str, key: str, **arguments: str) -> ServerError:
    return ServerError(
        sqlstate, message, key=key, detail=None, hint=None, location=None, culprit=None, **arguments, relation=row.name
    ).about(relation=session.qualified(row))


_ON = 'cannot execute REPACK (CONCURRENTLY) on relation "{relation}"'


def repack(session: Session, node: Node) -> None:
    """Raises ServerError for a table that CONCURRENTLY does not take."""
    if not node["concurrent"]:
        return
    session.refuse_in_transaction("REPACK (CONCURRENTLY)")
    if "relation" not in node:
        return
    row = session.relation(node["relation"])
    refusal = _refusal(session, row)
    if refusal is None:
        return
    session.rests_on(row)
    refusal.culprit, refusal.relation = node["relation"].get("location"), session.qualified(row)
    raise refusal


def _refusal(session: Session, row: Relation) -> ServerError | None:
    name = row.name
    if row.kind == "p":
        message = "REPACK (CONCURRENTLY) is not supported for partitioned tables"
        hint = "Consider running the command on individual partitions."
        return ServerError("0A000", message, key="repack-partitioned", hint=hint, relation=name)
    if row.persistence != "p":
        hint = "REPACK (CONCURRENTLY) is only allowed for permanent relations."
        return ServerError("55000", _ON, key="repack-not-permanent", hint=hint, relation=name)
    if row.identity in "fn":
        word = "FULL" if row.identity == "f" else "NOTHING"
        detail = f"REPACK (CONCURRENTLY) does not support tables with REPLICA IDENTITY {word}."
        return ServerError("55000", _ON, key="repack-identity", detail=detail, relation=name, identity=word)
    catalog = session.catalog
    keys = [catalog.indexes[oid] for oid in catalog.key_indexes_of.get(row.oid)]
    if any(index.identity if row.identity == "i" else index.primary and index.immediate for index in keys):
        return None
    if row.identity == "d" and any(index.primary for index in keys):
        return ServerError(
            "0A000",
            _ON,
            key="repack-deferrable",
            detail="REPACK (CONCURRENTLY) does not support deferrable primary keys.",
            hint="Use ALTER TABLE ... REPLICA IDENTITY USING INDEX to designate another index as replica identity.",
            relation=name,
        )
    hint = f'Relation "{name}" has no identity index.'
    return ServerError("55000", _ON, key="repack-without-index", hint=hint, relation=name)
