"""Guards that never were: what lint proposes instead stands in the diagnostic as a fix."""

from __future__ import annotations

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.checks.history.finding import TABLES
from tests.support.linting import lint

BETA = "CREATE PUBLICATION p FOR ALL TABLES IN SCHEMA public"


def refused(text: str) -> Diagnostic:
    (finding,) = [diagnostic for diagnostic in lint(TABLES, text) if diagnostic.rule in ("PUB101", "PUB102")]
    return finding


def fixed(finding: Diagnostic) -> str:
    """The source as the one fix leaves it."""
    (fix,) = finding.fixes
    text = finding.span.source.text
    for edit in sorted(fix.edits, key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


@pytest.mark.parametrize("before", ["", "-- é ü 😀\r\n", "/* a */ "])
def test_the_beta_s_syntax_is_corrected_safely(before: str) -> None:
    finding = refused(f"{before}{BETA}; -- after\n")
    assert [fix.applicability for fix in finding.fixes] == ["safe"]
    assert fixed(finding) == f"{before}CREATE PUBLICATION p FOR TABLES IN SCHEMA public; -- after\n"
    assert [diagnostic.rule for diagnostic in lint(TABLES, fixed(finding))] == []


def test_a_guard_becomes_a_block_that_lints_clean() -> None:
    finding = refused("CREATE PUBLICATION p FOR TABLE t;\nALTER PUBLICATION p ADD TABLE IF NOT EXISTS t;\n")
    assert [fix.applicability for fix in finding.fixes] == ["unsafe"]
    assert lint(TABLES, fixed(finding)) == []
    assert finding.help is not None
    assert "EXCEPTION WHEN duplicate_object" in finding.help


def test_inside_a_block_a_guard_is_no_fix_to_apply() -> None:
    inside = refused("DO $$ BEGIN CREATE PUBLICATION IF NOT EXISTS p FOR TABLE t; END $$;")
    assert [fix.applicability for fix in inside.fixes] in ([], ["display"])
    assert "DO block" in (inside.help or "")


def test_with_a_placeholder_filled_in_nothing_is_safe() -> None:
    assert refused(f"{BETA};").fixes
    assert not refused(f"{BETA.replace(' p ', ' :name ')};").fixes
