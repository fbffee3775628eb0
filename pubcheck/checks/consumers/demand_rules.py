"""Turn the claims of consumers into findings: one rule for each kind of demand, and one for claims that hold of most
publications. And consumers that cannot both read one publication, or one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import combinations
from typing import Any, TypeVar

from msgspec import Struct

from pubcheck.checks.consumers.readers import Subject, matches, subjects
from pubcheck.checks.context import (
    CHECKS,
    NOT_ELSEWHERE,
    RuleContext,
    RuleFinding,
    finds,
    first_places,
    listed,
    order,
    quoted,
)
from pubcheck.checks.tables import table_name
from pubcheck.consumers.demands import Base, Demand, Exists, IdentityKind, Key, KeyKind, ReplicaIdentity
from pubcheck.consumers.profiles import Claim, Condition, ConsumerUse, Contradiction, Side, contradictions, id_of, load
from pubcheck.diagnostics import ConsumerClaim, Operation, Severity
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Index, Place, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import replica_identity
from pubcheck.postgres.tokens import identifier
from pubcheck.rulebook import finder

IDENTITY_WORDS: dict[IdentityKind, str] = {
    "default": "the primary key as replica identity",
    "index": "REPLICA IDENTITY USING INDEX",
    "full": "REPLICA IDENTITY FULL",
    "nothing": "REPLICA IDENTITY NOTHING",
    "keyless": "no primary key and so no replica identity",
    "lost index": "a replica identity whose index is gone",
}
KEY_WORDS: dict[KeyKind, str] = {
    "primary key": "a primary key",
    "unique index": "a unique index over NOT NULL columns",
    "identity index": "REPLICA IDENTITY USING INDEX",
    "full": "REPLICA IDENTITY FULL",
}


def identity_kind(catalog: Catalog, relation: Relation) -> IdentityKind | None:
    """Return the kind of a table's replica identity; None if it is unknown."""
    identity = replica_identity(catalog, relation)
    if identity.kind == "f":
        return "full"
    if identity.kind == "n":
        return "nothing"
    if identity.exists:
        return "default" if identity.kind == "d" else "index"
    if not identity.known:
        return None
    return "keyless" if identity.kind == "d" else "lost index"


def key_kinds(catalog: Catalog, relation: Relation) -> frozenset[KeyKind]:
    """Return all that tells the rows of a table apart."""
    kinds: set[KeyKind] = set()
    for oid in catalog.indexes_of.get(relation.oid):
        index = catalog.indexes[oid]
        if index.primary and index.valid:
            kinds.add("primary key")
        if is_suitable(index, relation):
            kinds.add("unique index")
    identity = identity_kind(catalog, relation)
    if identity == "index":
        kinds.add("identity index")
    elif identity == "full":
        kinds.add("full")
    return frozenset(kinds)


def primary_key(catalog: Catalog, relation: Relation) -> tuple[int, ...]:
    """Return the columns of the primary key, () if there is none."""
    indexes = (catalog.indexes[oid] for oid in catalog.key_indexes_of.get(relation.oid))
    return next((index.keys for index in indexes if index.primary), ())


def is_suitable(index: Index, relation: Relation) -> bool:
    """Return whether an index can be a replica identity (ATExecReplicaIdentity)."""
    if not (index.unique and index.valid and index.immediate) or index.partial or 0 in index.keys:
        return False
    columns = {column.number: column for column in relation.columns}
    return all(columns[number].not_null for number in index.keys if number in columns)


EFFECTS = "PUB919"
"""The rule of claims that only say what a consumer does: they hold of most publications, so it is off by default."""


class Violation(Struct, frozen=True, kw_only=True):
    """Why a demand is not met. ``message`` is a fact about the publication, ``help`` an imperative.

    ``tables`` are those at fault, ``columns`` those that the message names or counts; ``place`` is the text to change,
    the publication's name if it is None. ``cause`` is a fact that goes against demands of several kinds; without it the
    message is the cause.
    """

    message: str
    help: str
    tables: tuple[Relation, ...] = ()
    columns: tuple[str, ...] = ()
    place: Place | None = None
    related: tuple[tuple[Place, str], ...] = ()
    certain: bool = True
    assumptions: tuple[str, ...] = ()
    operation: Operation | None = None
    cause: str = ""


_Demand = TypeVar("_Demand", bound=Base)
Evaluation = Callable[[Subject, _Demand], Iterator[Violation]]
_EVALUATIONS: dict[type[Base], Callable[[Subject, Any], Iterator[Violation]]] = {}
"""The function that checks each kind of demand."""


def evaluates(code: str, kind: type[_Demand]) -> Callable[[Evaluation[_Demand]], Evaluation[_Demand]]:
    """Enter the function that checks a kind of demand, under the code of the rule that reports it."""

    def enter(evaluation: Evaluation[_Demand]) -> Evaluation[_Demand]:
        _EVALUATIONS[kind] = evaluation

        @wraps(evaluation)
        def check(context: RuleContext) -> Iterator[RuleFinding]:
            return _findings(context, code, kind)

        if code != EFFECTS:
            CHECKS[code] = check
        return finder(code)(evaluation)

    return enter


def _findings(context: RuleContext, code: str, kind: type[Base]) -> Iterator[RuleFinding]:
    """Yield the findings about one kind of demand, without findings that are only an effect of others."""
    for subject in _readable(context):
        # A missing key is one cause, even if it makes the table fail other demands too.
        of_keys = _causes(subject, Key) if kind is ReplicaIdentity else {}
        of_identities = _causes(subject, ReplicaIdentity) if kind is Key else {}
        for cause, against in _causes(subject, kind).items():
            if cause not in of_keys:
                yield _finding_of_cause(subject, against, code, of_identities.get(cause, ()))


_Cause = tuple[str, tuple[int, ...]]
_Against = tuple[Claim, Violation]


def _causes(subject: Subject, kind: type[Base]) -> dict[_Cause, list[_Against]]:
    """Return what goes against demands of one kind, by its cause."""
    causes: dict[_Cause, list[_Against]] = {}
    for claim in subject.reader.claims(subject.catalog.major.number):
        for demand in claim.demands if claim.strength != "effect" else ():
            if type(demand) is kind:
                for violation in violations(subject, demand):
                    cause = violation.cause or violation.message, tuple(row.oid for row in violation.tables)
                    causes.setdefault(cause, []).append((claim, violation))
    return causes


def _readable(context: RuleContext) -> Iterator[Subject]:
    """Yield every publication that has a place, with each of its consumers."""
    for subject in subjects(context):
        if subject.place is not None:
            for _ in context.visit((subject.publication,)):
                yield subject


def violations(subject: Subject, demand: Demand) -> Iterator[Violation]:
    """Yield why a publication does not meet a demand."""
    evaluation = _EVALUATIONS.get(type(demand))
    return evaluation(subject, demand) if evaluation is not None else iter(())  # ``effects`` checks missing ones


def _finding_of_cause(
    subject: Subject, against: Sequence[_Against], code: str, of_others: Sequence[_Against] = ()
) -> RuleFinding:
    """Return the one finding about claims that the same fact goes against: that of the gravest one, with the others'
    consequences. ``of_others`` are demands of another kind."""
    claim, violation = min(against, key=_gravity)
    gravest, _ = min([(claim, violation), *of_others], key=_gravity)
    others = [other for other, _ in (*against, *of_others) if other is not gravest]
    return finding_of(subject, gravest, violation, code, others)


def _gravity(against: _Against) -> int:
    return _GRAVITY.index(against[0].severity)


_GRAVITY: tuple[Severity, ...] = ("error", "warning", "note")


def of_claim(subject: Subject, claim: Claim, demand: Demand, code: str) -> Iterator[RuleFinding]:
    """Yield the findings that a publication does not meet a demand."""
    return (finding_of(subject, claim, violation, code) for violation in violations(subject, demand))


def consequence(claim: Claim) -> str:
    """Return what happens if a claim is not satisfied, a clause."""
    return claim.breaks or claim.says.removesuffix(".")


def finding_of(
    subject: Subject, claim: Claim, violation: Violation, code: str, others: Sequence[Claim] = ()
) -> RuleFinding:
    """Return the finding that a publication, or some of its tables, does not meet a claim. ``others`` are claims that
    the same fact goes against."""
    context, reader, tables = subject.context, subject.reader, violation.tables
    place = violation.place or subject.place
    assert place is not None  # a publication without a place has nothing to report
    seen = subject.publication.seen and all(row.seen for row in tables)
    reasons = (reader.reason,) if reader.reason else ()
    names = context.qualified(tables)
    return RuleFinding(
        rule=code,
        message=f"{violation.message}; {subject.consumer}: {'; '.join(map(consequence, (claim, *others)))}",
        help=claim.help or violation.help,
        place=place,
        certain=seen and violation.certain and not reasons,
        related=first_places([*violation.related]),
        object=names[0] if names else None,
        publications=(subject.publication.name,),
        operation=violation.operation,
        severity=claim.severity,
        also=names[1:],
        columns=violation.columns,
        assumptions=(*reasons, *violation.assumptions),
        claim=claim_of(reader.id, claim, others),
    )


def claim_of(consumer: str, claim: Claim, others: Sequence[Claim] = ()) -> ConsumerClaim:
    """Return a claim as a finding cites it."""
    message, source, also = claim.message or None, claim.sources[0].address, tuple(other.id for other in others)
    return ConsumerClaim(id_of(consumer), claim.id, claim.says, claim.evidence, claim.inferred, message, source, also)


# What consumers do with a publication without failing, and without their publication: claims that hold of most
# publications, and consumers that are configured for one that does not exist.

_SHOWN = 5
"""Existing publications that are named at most."""


@finds("PUB901")
def missing(context: RuleContext) -> Iterator[RuleFinding]:
    """Publications that the configuration names and that the files drop, or never create; one finding for each."""
    for use, name, claims in _missing(context):
        claim = next((claim for claim in claims if claim.strength != "effect"), None)
        yield from _finding(context, use, name, claim, "PUB901")


def effects_of_missing(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what consumers do without their publication."""
    for use, name, claims in _missing(context):
        for claim in claims:
            if claim.strength == "effect":
                yield from _finding(context, use, name, claim, EFFECTS)


def _missing(context: RuleContext) -> Iterator[tuple[ConsumerUse, str, list[Claim]]]:
    """Yield consumers, each publication that they are configured for and that does not exist, and their claims."""
    major, names = context.catalog.major.number, context.catalog.publication_names
    for use in context.consumers:
        consumer = load(use.consumer)
        modes = frozenset(use.modes) or consumer.default_modes
        for name in use.publications:
            if name not in names and not any(matches((name,), existing) for existing in names):
                claims = (claim for claim in consumer.claims if claim.holds_in(modes, major))
                yield (
                    use,
                    name,
                    [claim for claim in claims if any(isinstance(demand, Exists) for demand in claim.demands)],
                )


def _finding(
    context: RuleContext, use: ConsumerUse, name: str, claim: Claim | None, code: str
) -> Iterator[RuleFinding]:
    dropped = context.history.gone_publications.get(name)
    place = dropped or _first_publication(context)
    if place is None:
        return
    certain = dropped is not None or (context.session.complete and not context.session.blind)
    is_pattern = "*" in name
    lack = f'no publication matches "{name}"' if is_pattern else f'there is no publication "{name}"'
    consumer = load(use.consumer).name
    if claim is None:
        lack += f", which {consumer} is configured to read: nothing is checked for it"
    else:
        lack += f"; {consumer}: {claim.breaks or claim.says.removesuffix('.')}"
    known = sorted(context.catalog.publication_names)
    there_are = f" ({listed(quoted(known))} exist{'s' if len(known) == 1 else ''})" if len(known) <= _SHOWN else ""
    correct = f"correct the name where the consumer is configured{there_are}"
    yield RuleFinding(
        rule=code,
        message=lack,
        help=correct if is_pattern else f"{correct}, or CREATE PUBLICATION {identifier(name)} FOR TABLE ...",
        place=place,
        certain=certain,
        publications=(name,),
        severity=claim.severity if claim is not None else "warning",
        assumptions=() if certain else (NOT_ELSEWHERE,),
        claim=claim_of(use.consumer, claim) if claim is not None else None,
    )


def _first_publication(context: RuleContext) -> Place | None:
    places = [place for row in context.catalog.publications.values() if (place := context.place_of(row)) is not None]
    return min(places, key=order, default=None)


@finds(EFFECTS)
def effects(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what each consumer does with what a publication offers, and without its publication."""
    for subject in _readable(context):
        for claim in subject.reader.claims(context.catalog.major.number):
            for demand in claim.demands if claim.strength == "effect" else ():
                yield from of_claim(subject, claim, demand, EFFECTS)
    yield from effects_of_missing(context)


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
