"""Consumers that cannot both read one publication, or one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from pubcheck.checks.consumers.demand_rules import claim_of, of_claim
from pubcheck.checks.consumers.keys import identity_kind, primary_key
from pubcheck.checks.consumers.readers import Subject, subjects
from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, quoted
from pubcheck.checks.table_names import table_name
from pubcheck.consumers.profiles import Claim, Condition, Contradiction, Side, contradictions
from pubcheck.diagnostics import Severity
from pubcheck.postgres.catalog.rows import PublicationRel, Relation
from pubcheck.postgres.tokens import identifier

_SOUND = ("enforced", "observed")


@finds("PUB917")
def contradicting_consumers(context: RuleContext) -> Iterator[RuleFinding]:
    """Two consumers of one publication, or of one table, whose demands cannot both be met."""
    everything = [consumer for consumer in subjects(context) if consumer.place is not None]
    known = [contradiction for contradiction in contradictions() if contradiction.against == "consumers"]
    for subject, other in combinations(everything, 2):
        if subject.reader.id == other.reader.id:
            continue
        for contradiction in known:
            for first, second in ((subject, other), (other, subject)):
                claims = _claim_of(first, contradiction.first), _claim_of(second, contradiction.second)
                if claims[0] is None or claims[1] is None:
                    continue
                yield from _contradiction(contradiction, first, second, claims[0], claims[1])
                break


def _claim_of(subject: Subject, side: Side) -> Claim | None:
    """Return the claim by which a consumer is on one side of a contradiction."""
    claims = subject.reader.claims(subject.catalog.major.number)
    return next((claim for claim in claims if claim.id in side.claims), None)


def _contradiction(
    contradiction: Contradiction, first: Subject, second: Subject, claim: Claim, against: Claim
) -> Iterator[RuleFinding]:
    context, same = first.context, first.publication is second.publication
    if contradiction.level == "publication":
        tables: list[Relation] = []
        if not same or not _holds(contradiction, first):
            return
        about = first.name
    else:
        leaves = {row.oid for row in second.leaves}
        tables = [row for row in first.leaves if row.oid in leaves and _concerns(contradiction, first, row)]
        if not tables:
            return
        about = listed(map(context.name, tables), "table")
    # The one that is created later is where the two meet.
    later = max(first, second, key=lambda subject: subject.publication.oid)
    place = later.place
    assert place is not None
    severity: Severity = "note" if contradiction.soft else "error"
    if severity == "error" and not (_is_sound(claim) and _is_sound(against)):
        severity = "warning"
    names = tuple(dict.fromkeys((first.publication.name, second.publication.name)))
    reasons = tuple(subject.reader.reason for subject in (first, second) if subject.reader.reason)
    seen = first.publication.seen and second.publication.seen and all(row.seen for row in tables)
    shown = context.qualified(tables)
    yield RuleFinding(
        rule="PUB917",
        message=f"{about} cannot serve {first.consumer} and {second.consumer}: {first.consumer} "
        f"{contradiction.first.needs}, and {second.consumer} {contradiction.second.needs} "
        f"({contradiction.id}, {claim.id}, {against.id})",
        help=contradiction.solution.replace("{first}", first.consumer).replace("{second}", second.consumer),
        place=place,
        certain=seen and not reasons,
        related=first_places([(row.place, "this table") for row in tables if row.place is not None]),
        object=shown[0] if shown else None,
        publications=names,
        severity=severity,
        also=shown[1:],
        assumptions=reasons,
        claim=claim_of(first.reader.id, claim),
    )


def _is_sound(claim: Claim) -> bool:
    return claim.evidence in _SOUND and not claim.inferred


def _holds(contradiction: Contradiction, subject: Subject) -> bool:
    """Return whether the publication has what the two consumers contradict each other about."""
    catalog, entries = subject.catalog, subject.entries
    members = {entry.relation for entry in entries}
    facts: dict[Condition, Callable[[], bool]] = {
        "always": lambda: True,
        "partitioned": lambda: bool(subject.roots),
        "all tables": lambda: subject.publication.all_tables,
        "row filter": lambda: any(entry.filter is not None for entry in entries),
        "column list": lambda: any(entry.columns is not None for entry in entries),
        "generated columns": lambda: any(column.generated for row in subject.leaves for column in row.live()),
        "root and leaf": lambda: any(not members.isdisjoint(catalog.ancestors(oid)) for oid in members),
        "keyless": lambda: any(not primary_key(catalog, row) for row in subject.leaves),
    }
    return facts[contradiction.when]()


def _concerns(contradiction: Contradiction, subject: Subject, table: Relation) -> bool:
    return contradiction.when != "keyless" or (table.seen and not primary_key(subject.catalog, table))


@finds("PUB921")
def full_against_column_list(context: RuleContext) -> Iterator[RuleFinding]:
    """A consumer that needs or sets REPLICA IDENTITY FULL on a table that a publication has with a column list.

    With both, the server refuses UPDATE and DELETE of the table (CheckCmdReplicaIdentity). PUB406 reports it where the
    files set the identity; here the consumer does, or its user will.
    """
    sides = [contradiction.first for contradiction in contradictions() if contradiction.against == "column lists"]
    lists: dict[int, list[PublicationRel]] = {}
    for entry in context.entries:
        publication = context.catalog.publications[entry.publication]
        if entry.columns is not None and (publication.update or publication.delete):
            lists.setdefault(entry.relation, []).append(entry)
    if not lists:
        return
    for subject in subjects(context):
        for claim in subject.reader.claims(context.catalog.major.number):
            if any(claim.id in side.claims for side in sides):
                for relation in _without_full(subject, claim):
                    for entry in lists.get(relation.oid, ()):
                        yield _refused_later(subject, claim, relation, entry)


def _without_full(subject: Subject, claim: Claim) -> list[Relation]:
    """Return the tables that a claim is about and that have another identity than FULL so far."""
    if subject.place is None:
        return []
    findings = [finding for demand in claim.demands for finding in of_claim(subject, claim, demand, "PUB921")]
    names = {name for finding in findings for name in (finding.object, *finding.also)}
    rows = (row for row in subject.catalog.relations.values() if subject.context.session.qualified(row) in names)
    return [row for row in rows if identity_kind(subject.catalog, row) != "full"]


def _refused_later(subject: Subject, claim: Claim, relation: Relation, entry: PublicationRel) -> RuleFinding:
    context, reader = subject.context, subject.reader
    publication = context.catalog.publications[entry.publication]
    name, written = context.name(relation), table_name(context.session, relation)
    operations = [word for word, on in (("UPDATE", publication.update), ("DELETE", publication.delete)) if on]
    reasons = (reader.reason,) if reader.reason else ()
    lister = identifier(publication.name)
    related = [(subject.place, f"read by {subject.consumer}")] if subject.place is not None else []
    return RuleFinding(
        rule="PUB921",
        message=f"{subject.consumer} needs or sets REPLICA IDENTITY FULL on {name}, which publication "
        f'"{publication.name}" has with a column list: PostgreSQL will refuse {listed(operations)} of {name}',
        help=f"publish the whole table in {listed(quoted([publication.name]))}: ALTER PUBLICATION {lister} DROP TABLE "
        f"{written}, then ADD TABLE {written}; or keep the columns to hide in a table of their own",
        place=entry.place,
        certain=relation.seen and publication.seen and not reasons,
        related=first_places(related),
        object=context.session.qualified(relation),
        publications=tuple(dict.fromkeys((publication.name, subject.publication.name))),
        operation="update" if publication.update else "delete",
        severity="error" if _is_sound(claim) or claim.evidence == "documented" else "warning",
        assumptions=reasons,
        claim=claim_of(reader.id, claim),
    )
