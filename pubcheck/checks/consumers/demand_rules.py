"""Turn the claims of consumers into findings: one rule for each kind of demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

from msgspec import Struct

from pubcheck.checks.consumers.readers import Subject, subjects
from pubcheck.checks.context import CHECKS, RuleContext, RuleFinding, first_places
from pubcheck.consumers.demands import Base, Demand
from pubcheck.consumers.profiles import Claim
from pubcheck.diagnostics import ConsumerClaim, Operation
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.rulebook import finder

EFFECTS = "PUB919"
"""The rule of claims that only say what a consumer does: they hold of most publications, so it is off by default."""


class Violation(Struct, frozen=True, kw_only=True):
    """Why a demand is not met. ``message`` is a fact about the publication, ``help`` an imperative.

    ``tables`` are those at fault; ``place`` is the text to change, the publication's name if it is None.
    """

    message: str
    help: str
    tables: tuple[Relation, ...] = ()
    place: Place | None = None
    related: tuple[tuple[Place, str], ...] = ()
    certain: bool = True
    assumptions: tuple[str, ...] = ()
    operation: Operation | None = None


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
    """Yield the findings about one kind of demand, without those that only tell an effect."""
    for subject, claim in claims(context):
        if claim.strength != "effect":
            for demand in claim.demands:
                if type(demand) is kind:
                    yield from of_claim(subject, claim, demand, code)


def claims(context: RuleContext) -> Iterator[tuple[Subject, Claim]]:
    """Yield every claim about a publication and its consumers."""
    for subject in subjects(context):
        if subject.place is not None:
            for _ in context.visit((subject.publication,)):
                for claim in subject.reader.claims(context.catalog.major.number):
                    yield subject, claim


def of_claim(subject: Subject, claim: Claim, demand: Demand, code: str) -> Iterator[RuleFinding]:
    """Yield the findings that a publication does not meet a demand."""
    evaluation = _EVALUATIONS.get(type(demand))
    if evaluation is None:
        return  # ``existence`` checks publications that are not there
    for violation in evaluation(subject, demand):
        yield finding_of(subject, claim, violation, code)


def finding_of(subject: Subject, claim: Claim, violation: Violation, code: str) -> RuleFinding:
    """Return the finding that a publication, or some of its tables, does not meet a claim."""
    context, reader, tables = subject.context, subject.reader, violation.tables
    place = violation.place or subject.place
    assert place is not None  # a publication without a place has nothing to report
    seen = subject.publication.seen and all(row.seen for row in tables)
    reasons = (reader.reason,) if reader.reason else ()
    names = context.qualified(tables)
    consequence = claim.breaks or claim.says.removesuffix(".")
    return RuleFinding(
        rule=code,
        message=f"{violation.message}; {subject.consumer}: {consequence}",
        help=violation.help,
        place=place,
        certain=seen and violation.certain and not reasons,
        related=first_places([*violation.related]),
        object=names[0] if names else None,
        publications=(subject.publication.name,),
        operation=violation.operation,
        severity=claim.severity,
        also=names[1:],
        assumptions=(*reasons, *violation.assumptions),
        claim=claim_of(reader.id, claim),
    )


def claim_of(consumer: str, claim: Claim) -> ConsumerClaim:
    """Return a claim as a finding cites it."""
    message, source = claim.message or None, claim.sources[0].address
    return ConsumerClaim(consumer, claim.id, claim.says, claim.evidence, claim.inferred, message, source)
