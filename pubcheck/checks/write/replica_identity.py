"""Write phase: which UPDATE or DELETE the publisher refuses (execReplication.c: CheckCmdReplicaIdentity)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from pubcheck.diagnostics import Diagnostic, ServerAnswer
from pubcheck.postgres.catalog import OTHER, RELATION, Catalog
from pubcheck.postgres.catalog.rows import Other, Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import (
    identity_check_entry,
    is_publishable,
    mapped,
    publications_of,
)
from pubcheck.postgres.replication.replica_identity import ReplicaIdentity, replica_identity

Write = Literal["update", "delete"]
WRITES: tuple[Write, ...] = ("update", "delete")
WRITING = frozenset(("UpdateStmt", "DeleteStmt", "InsertStmt", "MergeStmt"))
"""The nodes of the statements that write tables; others may have them inside."""

AFTER = 10
"""How many of the causes before it a refusal names; a table can be in tens of thousands of publications."""

_FILTER = "Column used in the publication WHERE expression is not part of the replica identity."
_COLUMNS = "Column list used by the publication does not cover the replica identity."
_GENERATED = "Replica identity must not contain unpublished generated columns."


class Cause(Struct, frozen=True):
    """One check that fails for one publication of a table, so that its UPDATE and DELETE are refused.

    ``check`` is its number in _CHECKS, ``NO_IDENTITY`` for a table without a replica identity. ``entry`` is the
    membership that is at fault, ``column`` the attribute's name and ``place`` where it is written.
    """

    publication: Publication
    check: int
    certain: bool
    column: str = ""
    entry: PublicationRel | None = None
    place: Place | None = None


class Refusal(Struct, frozen=True):
    """One cause for which the server refuses an operation on a table, with its answer once the earlier ones are gone.

    ``rule`` is a code. ``number`` counts the causes that the server meets before it: 0 for the answer that
    it gives today; ``after`` are the first of them, as publication and rule. ``total`` counts all causes of this
    operation on the table, ``own`` those of this publication.
    """

    rule: str
    operation: Write
    relation: int
    server: ServerAnswer
    publication: int
    certain: bool
    cause: Cause
    number: int = 0
    after: tuple[tuple[int, str], ...] = ()
    total: int = 1
    own: int = 1

    @property
    def column(self) -> str:
        return self.cause.column

    @property
    def entry(self) -> PublicationRel | None:
        return self.cause.entry


class RefusedDml(Struct, frozen=True):
    """A statement of the files that is refused for what it writes (``checks.stopped``): the table that the server
    names, the operation and the place since which it is refused, what is to be said of it, and when it was met
    (``RefusedWrites.clock``)."""

    key: tuple[int, Write, Place]
    diagnostic: Diagnostic
    clock: int


def refusals(catalog: Catalog, relation: Relation) -> dict[Write, tuple[Refusal, ...]]:
    """Why the server refuses EXPLAIN UPDATE and DELETE of one table: the causes in the order in which it meets them.

    Without those of the two that it accepts. A partitioned table itself is never refused, its leaves are.
    """
    publications = publications_of(catalog, relation) if _is_checked(relation) else []
    if not publications:
        return {}
    identity = replica_identity(catalog, relation)
    causes = [causes_in(catalog, relation, identity, publication) for publication in publications]
    if not any(causes):
        # Most tables: nothing is wrong with any of their publications.
        return {}
    # Loaded only where a write is refused.
    from pubcheck.checks.write.server_order import Line

    line = Line(publications, causes, overwrites=catalog.major.publish_generated_columns)
    found = {}
    for write in WRITES:
        if not _replaced(catalog, relation, write) and (met := list(line.of(write))):
            found[write] = _in_order(catalog, relation, write, met)
    return found


def causes_of(catalog: Catalog, relation: Relation, publications: Iterable[Publication]) -> dict[Write, list[Cause]]:
    """Why these publications of a table have its writes refused, in no order of the server's."""
    if not _is_checked(relation):
        return {}
    identity = replica_identity(catalog, relation)
    causes = [cause for one in publications for cause in causes_in(catalog, relation, identity, one)]
    if not causes:
        return {}
    return {
        write: [cause for cause in causes if getattr(cause.publication, write)]
        for write in WRITES
        if not _replaced(catalog, relation, write)
    }


def _is_checked(relation: Relation) -> bool:
    return relation.kind == "r" and is_publishable(relation)


def _in_order(catalog: Catalog, relation: Relation, operation: Write, met: list[Cause]) -> tuple[Refusal, ...]:
    """The causes of one operation, each with the server's answer."""
    seen = relation.seen and all(catalog.relations[oid].seen for oid in catalog.ancestors(relation.oid))
    rules = [_rule(relation, cause.check) for cause in met]
    first = tuple((cause.publication.oid, rule) for cause, rule in zip(met[:AFTER], rules, strict=False))
    own: dict[int, int] = {}
    for cause in met:
        own[cause.publication.oid] = own.get(cause.publication.oid, 0) + 1
    return tuple(
        Refusal(
            rule,
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
        for number, (cause, rule) in enumerate(zip(met, rules, strict=True))
    )


def _rule(relation: Relation, check: int) -> str:
    filtered = "PUB304" if relation.partition else "PUB301"
    return (filtered, "PUB406", "PUB303", "PUB302")[check]


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


def others_on(catalog: Catalog, relation: Relation, kind: str) -> list[Other]:
    """The rules or triggers of a table or view."""
    dependents = catalog.dependents.groups.get((RELATION, relation.oid), ())
    if len(catalog.others) <= len(dependents):
        # A table can be in tens of thousands of publications, which depend on it too.
        others: Iterable[Other | None] = list(catalog.others.values())
    else:
        others = [catalog.others.get(key[1]) for key, _, _ in dependents if key[0] == OTHER]
    return [each for each in others if each is not None and each.kind == kind and each.namespace == relation.oid]


def _replaced(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Whether a rule of the table always does something else instead, so that it is not written (rewriteHandler.c)."""
    return any(rule.instead == write and rule.enabled for rule in others_on(catalog, relation, "rule"))


def causes_in(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> tuple[Cause, ...]:
    """The checks that fail for one publication of a table, whatever that publishes.

    They are those of no other publication: a cause comes and goes without regard to the others.
    """
    found = [cause for check in _CHECKS if (cause := check(catalog, relation, identity, publication)) is not None]
    if identity.known and not identity.exists:
        found.append(Cause(publication, NO_IDENTITY, publication.seen))
    return tuple(found)


def _filter_cause(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> Cause | None:
    """pub_rf_contains_invalid_column: a filter column outside the identity; any will do under FULL."""
    if publication.all_tables or identity.full or not identity.known:
        return None
    entry = identity_check_entry(catalog, publication, relation)
    if entry is None or entry.filter is None:
        return None
    source = catalog.relations[entry.relation]
    for number in entry.filter.columns:
        if identity.columns.isdisjoint(mapped(source, relation, (number,))):
            name = source.columns[number - 1].name
            place = next((place for column, place in entry.filter.places if column == number), None)
            return Cause(publication, FILTER, publication.seen and entry.filter.judged, name, entry, place)
    return None


def _columns_cause(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> Cause | None:
    """The column-list half of pub_contains_invalid_column: every identity column listed, and no list under FULL."""
    if publication.all_tables:
        return None
    entry = identity_check_entry(catalog, publication, relation)
    if entry is None or entry.columns is None:
        return None
    place = None
    if entry.column_places:
        first, last = entry.column_places[0][1], entry.column_places[-1][1]
        place = Place(first.source, first.statement, first.start, last.end)
    if identity.full:
        return Cause(publication, COLUMN_LIST, publication.seen, "", entry, place)
    listed = mapped(catalog.relations[entry.relation], relation, entry.columns)
    for number in sorted(identity.columns):
        if number not in listed:
            return Cause(publication, COLUMN_LIST, publication.seen, relation.columns[number - 1].name, entry, place)
    return None


def _generated_cause(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> Cause | None:
    """The generated-column half of pub_contains_invalid_column (18 on)."""
    if not catalog.major.publish_generated_columns:
        return None
    generated = [number for number in identity.columns if relation.columns[number - 1].generated]
    if not generated:
        return None
    entry = None if publication.all_tables else identity_check_entry(catalog, publication, relation)
    if not identity.full and entry is not None and entry.columns is not None:
        return None
    for number in sorted(generated):
        column = relation.columns[number - 1]
        if column.generated == "v" or publication.generated != "s":
            return Cause(publication, GENERATED, publication.seen, column.name, entry)
    return None


_CHECKS = (_filter_cause, _columns_cause, _generated_cause)
"""In the order in which CheckCmdReplicaIdentity reports what they find."""

CHECKS = range(4)
FILTER, COLUMN_LIST, GENERATED, NO_IDENTITY = CHECKS
"""Numbers of checks: of the three above, and of the one that comes after them."""
