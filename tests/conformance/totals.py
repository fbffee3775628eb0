"""What a whole run over the corpus comes to, as numbers and as the line that a test run prints."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tests.conformance.judging import Judgement, Status


class Totals(Struct, frozen=True):
    """Counts of one major. `wording` is of the cases that must agree and do; invented errors are of all cases."""

    major: int
    covered: int
    agreed: int
    worded: int
    later: int
    later_agreed: int
    unmapped: int
    other: int
    invented: int

    @property
    def wording(self) -> float:
        return self.worded / self.covered if self.covered else 1.0

    def line(self) -> str:
        return (
            f"conformance {self.major}: verdict {self.agreed}/{self.covered}, wording {self.worded}/{self.covered}"
            f" ({self.wording:.1%}), invented errors {self.invented}, not yet covered {self.later}"
            f" (of which agree {self.later_agreed}), not comparable {self.unmapped}, other phases {self.other}"
        )


def totals(major: int, judgements: Sequence[Judgement]) -> Totals:
    """The numbers of one major's judgements."""
    covered = [judgement for judgement in judgements if judgement.status is Status.COVERED]
    later = [judgement for judgement in judgements if judgement.status is Status.LATER]
    return Totals(
        major=major,
        covered=len(covered),
        agreed=sum(judgement.agreed for judgement in covered),
        worded=sum(judgement.worded for judgement in covered),
        later=len(later),
        later_agreed=sum(judgement.agreed for judgement in later),
        unmapped=sum(judgement.status is Status.UNMAPPED for judgement in judgements),
        other=sum(judgement.status is Status.OTHER for judgement in judgements),
        invented=sum(bool(judgement.invented) for judgement in judgements if judgement.status is not Status.UNMAPPED),
    )


def families(major: int, judgements: Sequence[Judgement]) -> list[str]:
    """A table: of each family its cases, those whose verdict and whose words must agree and do, and invented errors."""
    members: dict[str, list[Judgement]] = {}
    for judgement in judgements:
        members.setdefault(judgement.case.rule, []).append(judgement)
    lines = [f"{'family of PostgreSQL ' + str(major):<28}{'cases':>6}{'verdict':>12}{'words':>12}{'invented':>9}"]
    for family, own in sorted(members.items()):
        counts = totals(major, own)
        verdict, words = f"{counts.agreed}/{counts.covered}", f"{counts.worded}/{counts.covered}"
        lines.append(f"{family:<28}{len(own):>6}{verdict:>12}{words:>12}{counts.invented:>9}")
    return lines
