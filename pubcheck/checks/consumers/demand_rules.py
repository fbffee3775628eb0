"""Turn the claims of consumers into findings: one rule for each kind of demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, TypeVar

from msgspec import Struct

from pubcheck.checks.consumers.readers import Subject, subjects
from pubcheck.checks.context import CHECKS, RuleContext, RuleFinding, first_places
from pubcheck.consumers.demands import Base, Demand, Key, ReplicaIdentity
from pubcheck.consumers.profiles import Claim, id_of
from pubcheck.diagnostics import ConsumerClaim, Operation, Severity
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.rulebook import finder

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
    for subject in readable(context):
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


def readable(context: RuleContext) -> Iterator[Subject]:
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
