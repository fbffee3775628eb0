"""What consumers demand of the order of statements in the files."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks import written
from pubcheck.checks.consumers.demand_rules import Violation, evaluates
from pubcheck.checks.consumers.readers import Subject
from pubcheck.checks.context import listed, order
from pubcheck.checks.history.slots import slot_before
from pubcheck.consumers.demands import Order
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.postgres.identifiers import identifier


@evaluates("PUB920", Order)
def statement_order(subject: Subject, demand: Order) -> Iterator[Violation]:
    """Statements that come too early, too late, or that the consumer does not follow."""
    for kind in demand.forbid:
        yield from _CHECKS[kind](subject)


def _slot(subject: Subject) -> Iterator[Violation]:
    slot = slot_before(subject.context, subject.publication)
    if slot is not None:
        yield Violation(
            message=f"the replication slot is older than {subject.name}",
            help="create the publication first, and then the slot",
            related=((slot, "the slot is created here"),),
        )


def _members(subject: Subject) -> Iterator[Violation]:
    """Yield members that a statement dropped and a later one added again."""
    context = subject.context
    again = context.history.added_again.get(subject.publication.oid, {})
    for oid, place in again.items():
        relation = subject.catalog.relations.get(oid)
        if relation is not None:
            yield Violation(
                message=f"{context.name(relation)} is dropped from {subject.name} and added again",
                help="change the membership with ALTER PUBLICATION ... SET TABLE, or leave it as it is",
                tables=(relation,),
                place=place,
            )


def _columns(subject: Subject) -> Iterator[Violation]:
    """Yield tables that got columns, or other types, after they were published."""
    published = {row.oid for row in subject.leaves} | {row.oid for row in subject.names}
    places: dict[int, Place] = {}
    for added in subject.context.history.added:
        if added.relation in published:
            places.setdefault(added.relation, added.place)
    for oid, place in places.items():
        relation = subject.catalog.relations[oid]
        yield Violation(
            message=f"{subject.context.name(relation)} gets columns after {subject.name} has it",
            help=f"let {subject.consumer} read the table again after this change",
            tables=(relation,),
            place=place,
        )


def _identity(subject: Subject) -> Iterator[Violation]:
    """Yield tables whose replica identity is altered after they were published."""
    altered = subject.context.once(written.altered_identities)
    tables: list[tuple[Relation, Place]] = []
    for change in subject.changes:
        place = altered.get(change.relation)
        since = change.entry.place if change.entry is not None else subject.publication.place
        if place is not None and since is not None and order(since) < order(place):
            tables.append((subject.catalog.relations[change.relation], place))
    if tables:
        rows = [row for row, _ in tables]
        yield Violation(
            message=f"the replica identity of {listed(map(subject.context.name, rows))} is altered after "
            f"{subject.name} has {'them' if len(rows) > 1 else 'it'}",
            help="set the replica identity before the table is published",
            tables=tuple(rows),
            place=tables[0][1],
        )


def _comment(subject: Subject) -> Iterator[Violation]:
    """Yield an ALTER PUBLICATION that no COMMENT ON PUBLICATION follows."""
    name = subject.publication.name
    altered = subject.context.once(written.publications_altered).get(name)
    commented = subject.context.once(written.publications_commented).get(name)
    if altered is not None and (commented is None or order(commented) < order(altered)):
        yield Violation(
            message=f"{subject.name} is altered, and no COMMENT ON PUBLICATION follows",
            help=f"COMMENT ON PUBLICATION {identifier(name)} IS '...'",
            place=altered,
        )


_CHECKS = {"slot": _slot, "members": _members, "columns": _columns, "identity": _identity, "comment": _comment}
