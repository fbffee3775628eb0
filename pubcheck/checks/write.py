"""Write phase: which UPDATE or DELETE the publisher refuses (execReplication.c: CheckCmdReplicaIdentity)."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pubcheck.diagnostics import Diagnostic, ServerAnswer
from pubcheck.postgres.catalog import OTHER, RELATION, Catalog
from pubcheck.postgres.catalog.rows import Other, Place, Publication, PublicationRel, Relation
from pubcheck.replication.identity import ReplicaIdentity, replica_identity
from pubcheck.replication.published import is_publishable, judged_entry, mapped, publications_of

Write = Literal["update", "delete"]
WRITES: tuple[Write, ...] = ("update", "delete")
WRITING = frozenset(("UpdateStmt", "DeleteStmt", "InsertStmt", "MergeStmt"))
"""The nodes of the statements that write tables; others may have them inside."""

_FILTER = "Column used in the publication WHERE expression is not part of the replica identity."
_COLUMNS = "Column list used by the publication does not cover the replica identity."
_GENERATED = "Replica identity must not contain unpublished generated columns."


class Refusal(Struct, frozen=True):
    """Why the server refuses an operation on a table.

    ``rule`` is the specification's. ``publications`` are all whose check fails, in the server's order; ``entry`` is
    the first one's membership that is at fault, ``column`` the attribute's name and ``place`` where it stands.
    """

    rule: str
    operation: Write
    relation: int
    server: ServerAnswer
    publications: tuple[int, ...]
    certain: bool
    column: str = ""
    entry: PublicationRel | None = None
    place: Place | None = None


class Met(Struct, frozen=True):
    """A statement of the files that is refused for what it writes (``checks.stopped``): the table that the server
    names, the operation and the place since which it is refused, and what is to be said of it."""

    key: tuple[int, Write, Place]
    diagnostic: Diagnostic


class _Culprit(Struct, frozen=True):
    publication: Publication
    certain: bool
    column: str = ""
    entry: PublicationRel | None = None
    place: Place | None = None


def refusals(catalog: Catalog, relation: Relation) -> dict[Write, Refusal]:
    """What the server answers to EXPLAIN UPDATE and DELETE of one table, for those of the two that it refuses.

    A partitioned table itself is never refused, its leaves are.
    """
    if relation.kind != "r" or not is_publishable(relation):
        return {}
    publications = publications_of(catalog, relation)
    if not publications:
        return {}
    identity = replica_identity(catalog, relation)
    if not any(failing(catalog, relation, identity, publication) for publication in publications):
        # Most tables: nothing is wrong with any of their publications.
        return {}
    found: dict[Write, Refusal] = {}
    reported = _reported(catalog, relation, identity, publications)
    for write in WRITES:
        if _replaced(catalog, relation, write):
            continue
        publishing = [publication for publication in publications if getattr(publication, write)]
        if publishing:
            refusal = _refusal(catalog, relation, identity, write, publishing, reported.get(write))
            if refusal is not None:
                found[write] = refusal
    return found


def refused_by(catalog: Catalog, relation: Relation, publication: Publication) -> tuple[Write, ...]:
    """The writes of a table that would be refused if it had no publication but this one of its publications."""
    if relation.kind != "r" or not (publication.update or publication.delete) or not is_publishable(relation):
        return ()
    if not failing(catalog, relation, replica_identity(catalog, relation), publication):
        return ()
    return tuple(write for write in WRITES if getattr(publication, write) and not _replaced(catalog, relation, write))


def others_on(catalog: Catalog, relation: Relation, kind: str) -> list[Other]:
    """The rules or triggers of a table or view."""
    dependents = catalog.dependents.get((RELATION, relation.oid))
    others = (catalog.others.get(key[1]) for key, _, _ in dependents if key[0] == OTHER)
    return [each for each in others if each is not None and each.kind == kind and each.namespace == relation.oid]


def _replaced(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Whether a rule of the table always does something else instead, so that it is not written (rewriteHandler.c)."""
    return any(rule.instead == write and rule.enabled for rule in others_on(catalog, relation, "rule"))


def failing(catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication) -> bool:
    """Whether any check fails for one publication of a table, whatever that publishes."""
    if identity.known and not identity.exists:
        return True
    if not publication.all_tables and (
        _filter_culprit(catalog, relation, identity, publication) is not None
        or _columns_culprit(catalog, relation, identity, publication) is not None
    ):
        return True
    return _generated_culprit(catalog, relation, identity, publication) is not None


def _reported(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publications: list[Publication]
) -> dict[Write, int]:
    """The check of _CHECKS whose failure is reported for a write, where one is (RelationBuildPublicationDesc).

    Publications are looked at in turn, no further once all four operations are published and one and the same check has
    failed for UPDATE and for DELETE: what fails in a later one is then never found, though its check would come first.
    From 18 on a publication whose column list or generated columns fail tells anew which of the two has.
    """
    overwrites = catalog.major.publish_generated_columns
    failed: dict[Write, set[int]] = {write: set() for write in WRITES}
    published: set[str] = set()
    for publication in publications:
        published.update(action for action in _ACTIONS if getattr(publication, action))
        fails = {
            number
            for number, check in enumerate(_CHECKS)
            if check(catalog, relation, identity, publication) is not None
        }
        for write in WRITES:
            if fails and getattr(publication, write):
                kept = failed[write] & {0} if overwrites and fails - {0} else failed[write]
                failed[write] = kept | fails
        if len(published) == len(_ACTIONS) and failed["update"] & failed["delete"]:
            break
    return {write: min(numbers) for write, numbers in failed.items() if numbers}


_ACTIONS = ("insert", "update", "delete", "truncate")


def _refusal(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    operation: Write,
    publications: list[Publication],
    reported: int | None,
) -> Refusal | None:
    """The refusal of one operation that some publications publish, given in the server's order.

    ``reported``: by the check of _CHECKS of this number; a missing identity comes after all of them.
    """
    seen = relation.seen and all(catalog.relations[oid].seen for oid in catalog.ancestors(relation.oid))
    verb = "update" if operation == "update" else "delete from"
    if reported is not None:
        rule, detail = (
            ("ri-partition-filter" if relation.partition else "ri-filter-column", _FILTER),
            ("ri-column-list", _COLUMNS),
            ("ri-generated-column", _GENERATED),
        )[reported]
        check = _CHECKS[reported]
        culprits = [culprit for p in publications if (culprit := check(catalog, relation, identity, p))]
        first = culprits[0]
        return Refusal(
            rule,
            operation,
            relation.oid,
            ServerAnswer("42P10", f'cannot {verb} table "{relation.name}"', detail),
            tuple(culprit.publication.oid for culprit in culprits),
            seen and any(culprit.certain for culprit in culprits),
            first.column,
            first.entry,
            first.place,
        )
    if identity.exists or not identity.known:
        return None
    gerund = "updating" if operation == "update" else "deleting from"
    return Refusal(
        "ri-none",
        operation,
        relation.oid,
        ServerAnswer(
            "55000",
            f'cannot {verb} table "{relation.name}" because it does not have a replica identity '
            f"and publishes {operation}s",
            hint=f"To enable {gerund} the table, set REPLICA IDENTITY using ALTER TABLE.",
        ),
        tuple(publication.oid for publication in publications),
        seen and any(publication.seen for publication in publications),
    )


def _filter_culprit(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> _Culprit | None:
    """pub_rf_contains_invalid_column: a filter column outside the identity; any will do under FULL."""
    if publication.all_tables or identity.full or not identity.known:
        return None
    entry = judged_entry(catalog, publication, relation)
    if entry is None or entry.filter is None:
        return None
    source = catalog.relations[entry.relation]
    for number in entry.filter.columns:
        if identity.columns.isdisjoint(mapped(source, relation, (number,))):
            name = source.columns[number - 1].name
            place = next((place for column, place in entry.filter.places if column == number), None)
            certain = publication.seen and entry.filter.judged
            return _Culprit(publication, certain, name, entry, place)
    return None


def _columns_culprit(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> _Culprit | None:
    """The column-list half of pub_contains_invalid_column: every identity column listed, and no list under FULL."""
    if publication.all_tables:
        return None
    entry = judged_entry(catalog, publication, relation)
    if entry is None or entry.columns is None:
        return None
    place = None
    if entry.column_places:
        first, last = entry.column_places[0][1], entry.column_places[-1][1]
        place = Place(first.source, first.statement, first.start, last.end)
    if identity.full:
        return _Culprit(publication, publication.seen, "", entry, place)
    listed = mapped(catalog.relations[entry.relation], relation, entry.columns)
    for number in sorted(identity.columns):
        if number not in listed:
            return _Culprit(publication, publication.seen, relation.columns[number - 1].name, entry, place)
    return None


def _generated_culprit(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> _Culprit | None:
    """The generated-column half of pub_contains_invalid_column (18 on)."""
    if not catalog.major.publish_generated_columns:
        return None
    generated = [number for number in identity.columns if relation.columns[number - 1].generated]
    if not generated:
        return None
    entry = None if publication.all_tables else judged_entry(catalog, publication, relation)
    if not identity.full and entry is not None and entry.columns is not None:
        return None
    for number in sorted(generated):
        column = relation.columns[number - 1]
        if column.generated == "v" or publication.generated != "s":
            return _Culprit(publication, publication.seen, column.name, entry)
    return None


_CHECKS = (_filter_culprit, _columns_culprit, _generated_culprit)
"""In the order in which CheckCmdReplicaIdentity reports what they find."""
