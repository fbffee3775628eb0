"""The survey of a corpus: how many publications and repositories have a feature, and how sure that share is.

The intervals are Wilson's score intervals: they stay within 0 and 1, and hold for few and for rare items (E. B. Wilson,
Probable inference, the law of succession, and statistical inference, 1927). They take the corpus for a random sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import sqrt

from msgspec import Struct

from pubcheck.html import page

_Z = 1.959963984540054
"""The quantile of the normal distribution for an interval of 95 percent."""


class Share(Struct, frozen=True):
    """How many of ``whole`` things of a ``kind`` (publications, repositories, units, or tables and operations) are as
    ``item`` says, in the part ``subject`` of the survey; between ``low`` and ``high`` lies, with 95 percent
    confidence, the share in the population that the corpus is a sample of."""

    subject: str
    item: str
    kind: str
    count: int
    whole: int
    share: float
    low: float
    high: float


def share(subject: str, item: str, kind: str, count: int, whole: int) -> Share:
    """Return a share with its interval."""
    low, high = wilson(count, whole)
    return Share(subject, item, kind, count, whole, count / whole if whole else 0.0, low, high)


def wilson(count: int, whole: int) -> tuple[float, float]:
    """Return the bounds of the score interval of 95 percent; 0 and 1 where nothing was counted."""
    if not whole:
        return 0.0, 1.0
    observed, square = count / whole, _Z * _Z
    centre = observed + square / (2 * whole)
    margin = _Z * sqrt(observed * (1 - observed) / whole + square / (4 * whole * whole))
    scale = 1 + square / whole
    return max(0.0, (centre - margin) / scale), min(1.0, (centre + margin) / scale)


class SurveyPage(Struct, frozen=True):
    """The survey of a run, as the page shows it."""

    run: str
    input: str
    pubcheck: str
    shares: Sequence[Share]


def render(survey: SurveyPage) -> Iterator[str]:
    """Return the page in pieces. Its length depends on the rules, features and consumers, not on the corpus."""
    subjects = [
        (subject, [(kind, list(of_kind)) for kind, of_kind in groupby(shares, key=lambda share: share.kind)])
        for subject, shares in groupby(survey.shares, key=lambda share: share.subject)
    ]
    return page.render("survey.html", survey=survey, subjects=subjects)
