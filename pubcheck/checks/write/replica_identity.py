"""Write phase: which UPDATE or DELETE the publisher refuses (execReplication.c: CheckCmdReplicaIdentity)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pubcheck.checks.write.identity_causes import NO_IDENTITY, WRITES, Cause, Write, causes_in
from pubcheck.diagnostics import Diagnostic, ServerAnswer
from pubcheck.postgres.catalog import OTHER, RELATION, Catalog
from pubcheck.postgres.catalog.rows import OtherObject, Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of, replica_identity

WRITING = frozenset(("UpdateStmt", "DeleteStmt", "InsertStmt", "MergeStmt"))
"""The nodes of the statements that write tables; others may have them inside."""

AFTER = 10
"""The number of earlier causes that a refusal lists. A table can be in tens of thousands of publications."""

_FILTER = "Column used in the publication WHERE expression is not part of the replica identity."
_COLUMNS = "Column list used by the publication does not cover the replica identity."
_GENERATED = "Replica identity must not contain unpublished generated columns."


class Refusal(Struct, frozen=True):
    """One cause for which the server refuses an operation on a table, with the answer after all earlier causes are
    removed.

    ``number`` is the number of causes that the server meets first: 0 for today's answer. ``after``
    lists the first of these, as publication and rule. ``total`` counts all causes of this operation on the table,
    ``of_publication`` those of this publication.
    """

    operation: Write
    relation: int
    server: ServerAnswer
    publication: int
    certain: bool
    cause: Cause
    number: int = 0
    after: tuple[tuple[int, str], ...] = ()
    total: int = 1
    of_publication: int = 1

    @property
    def rule(self) -> str:
        return self.cause.rule

    @property
    def column(self) -> str:
        return self.cause.column

    @property
    def entry(self) -> PublicationRel | None:
        return self.cause.entry


class RefusedDml(Struct, frozen=True):
    """A statement of the files that is refused for what it writes (``checks.refused_dml``): the table that the server
    names, the operation, the place since which it is refused, its diagnostic, and the ``RefusedWrites.clock`` at which
    it would run."""

    key: tuple[int, Write, Place]
    diagnostic: Diagnostic
    clock: int


def refusals(catalog: Catalog, relation: Relation) -> dict[Write, tuple[Refusal, ...]]:
    """Return the causes for which the server refuses EXPLAIN UPDATE and DELETE of one table, in the server's order.

    An operation that it accepts is not in the result. A partitioned table itself is never refused, but its leaves are.
    """
    publications = publications_of(catalog, relation) if _is_checked(relation) else []
    if not publications:
        return {}
    identity = replica_identity(catalog, relation)
    causes = [causes_in(catalog, relation, identity, publication) for publication in publications]
    if not any(causes):
        # Most tables: nothing is wrong with any of their publications.
        return {}
    from pubcheck.checks.write.identity_causes import Line

    line = Line(publications, causes, overwrites=catalog.major.publish_generated_columns)
    refusals_by_write = {}
    for write in WRITES:
        if not _never_written(catalog, relation, write) and (met := list(line.of(write))):
            refusals_by_write[write] = _in_order(catalog, relation, write, met)
    return refusals_by_write


def causes_of(catalog: Catalog, relation: Relation, publications: Iterable[Publication]) -> dict[Write, list[Cause]]:
    """Return the causes for which writes of a table are refused because of these publications, in any order."""
    if not _is_checked(relation):
        return {}
    identity = replica_identity(catalog, relation)
    causes = [cause for publication in publications for cause in causes_in(catalog, relation, identity, publication)]
    if not causes:
        return {}
    return {
        write: [cause for cause in causes if getattr(cause.publication, write)]
        for write in WRITES
        if not _never_written(catalog, relation, write)
    }


def _is_checked(relation: Relation) -> bool:
    return relation.kind == "r" and is_publishable(relation)


def _in_order(catalog: Catalog, relation: Relation, operation: Write, met: list[Cause]) -> tuple[Refusal, ...]:
    """The causes of one operation, each with the server's answer."""
    seen = relation.seen and all(catalog.relations[oid].seen for oid in catalog.ancestors(relation.oid))
    first = tuple((cause.publication.oid, cause.rule) for cause in met[:AFTER])
    own: dict[int, int] = {}
    for cause in met:
        own[cause.publication.oid] = own.get(cause.publication.oid, 0) + 1
    return tuple(
        Refusal(
            operation,
            relation.oid,
            _answer(relation, operation, cause.check),
            cause.publication.oid,
            seen and cause.certain,
            cause,
            number,
            first[:number],
            len(met),
            own[cause.publication.oid],
        )
        for number, cause in enumerate(met)
    )


def _answer(relation: Relation, operation: Write, check: int) -> ServerAnswer:
    verb = "update" if operation == "update" else "delete from"
    if check != NO_IDENTITY:
        detail = (_FILTER, _COLUMNS, _GENERATED)[check]
        return ServerAnswer("42P10", f'cannot {verb} table "{relation.name}"', detail)
    gerund = "updating" if operation == "update" else "deleting from"
    return ServerAnswer(
        "55000",
        f'cannot {verb} table "{relation.name}" because it does not have a replica identity and publishes {operation}s',
        hint=f"To enable {gerund} the table, set REPLICA IDENTITY using ALTER TABLE.",
    )


def others_on(catalog: Catalog, relation: Relation, kind: str) -> list[OtherObject]:
    """The rules or triggers of a table or view."""
    dependents = catalog.dependents.groups.get((RELATION, relation.oid), ())
    if len(catalog.others) <= len(dependents):
        # A table can be in tens of thousands of publications, which depend on it too.
        rows: Iterable[OtherObject | None] = list(catalog.others.values())
    else:
        rows = [catalog.others.get(key[1]) for key, _, _ in dependents if key[0] == OTHER]
    return [row for row in rows if row is not None and row.kind == kind and row.namespace == relation.oid]


def is_replaced(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Return whether a rule of the table always does something else instead (rewriteHandler.c)."""
    return any(rule.instead == write and rule.enabled for rule in others_on(catalog, relation, "rule"))


def _never_written(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Return whether rules replace every write of the table.

    A rule counts only in statements that name its table, not in those that reach the table through a parent.
    """
    return is_replaced(catalog, relation, write) and all(
        _never_written(catalog, catalog.relations[parent], write) for parent in relation.parents
    )
