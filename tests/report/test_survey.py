"""The page of a survey, and its intervals."""

from __future__ import annotations

import pytest

from pubcheck.report.audit_html import SurveyPage, render_survey, share, wilson


@pytest.mark.parametrize(
    ("count", "whole", "low", "high"),
    # R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_intervals_are_wilson_s(count: int, whole: int, low: float, high: float) -> None:
    assert wilson(count, whole) == pytest.approx((low, high), abs=0.00005)


def test_the_page_shows_shares_of_every_kind() -> None:
    shares = [
        share("features", "<row filter>", "publications", 81, 263),
        share("features", "<row filter>", "repositories", 0, 0),
        share("rules", "PUB301", "units", 1, 29),
    ]
    text = "".join(render_survey(SurveyPage("r1", "lake.files", "0", shares)))
    assert "&lt;row filter&gt;" in text
    assert "30.80 %" in text
    assert "25.53 %" in text
    assert text.count("<table") == 3
