"""Consumers that cannot both read one publication, or one table (PUB917, PUB921)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from msgspec import Struct, convert

from pubcheck.consumers.profiles import contradictions
from pubcheck.diagnostics import Diagnostic
from tests.consumers.test_pairs import CLAIMS, findings
from tests.rules.conftest import Scripts
from tests.support.scripts import statements
from tests.support.servers import PACKAGES


class Pair(Struct, forbid_unknown_fields=True):
    """SQL whose comments name two consumers: in conflict, and not."""

    contradiction: str
    conflict: str
    agreement: str


_FILE = Path(__file__).parents[2] / "corpus" / "consumers" / "contradictions.toml"
PAIRS = convert(tomllib.loads(_FILE.read_text(encoding="utf-8"))["pair"], list[Pair])
KNOWN = {contradiction.id: contradiction for contradiction in contradictions()}


def of(contradiction: str, sql: str) -> list[Diagnostic]:
    """Return the findings about one contradiction."""
    against_lists = KNOWN[contradiction].against == "column lists"
    rule = "PUB921" if against_lists else "PUB917"
    mark = "" if against_lists else f"({contradiction},"
    return [finding for finding in findings(sql, major=18) if finding.rule == rule and mark in finding.message]


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair.contradiction) for pair in PAIRS])
def test_two_consumers_are_in_conflict_or_not(pair: Pair) -> None:
    (finding,) = of(pair.contradiction, pair.conflict)
    assert finding.certainty == "certain"
    assert (finding.severity == "note") == KNOWN[pair.contradiction].soft
    assert finding.help
    assert finding.claim is not None
    assert finding.claim.claim in KNOWN[pair.contradiction].first.claims
    assert of(pair.contradiction, pair.agreement) == []


def test_every_contradiction_has_a_pair_and_names_claims_that_there_are() -> None:
    assert [pair.contradiction for pair in PAIRS] == list(KNOWN)
    for contradiction in KNOWN.values():
        assert {*contradiction.first.claims, *contradiction.second.claims} <= CLAIMS.keys()


@pytest.mark.server
@pytest.mark.parametrize("major", PACKAGES)
def test_the_server_refuses_what_a_consumer_with_full_does_to_a_column_list(scripts: Scripts, major: int) -> None:
    pair = next(pair for pair in PAIRS if pair.contradiction == "X02")
    texts = [statement.sql for statement in statements(pair.conflict)]
    texts += ["ALTER TABLE orders REPLICA IDENTITY FULL", "UPDATE orders SET total = 1", "DELETE FROM orders"]
    expected = [None] * (len(texts) - 2) + ["42P10", "42P10"]
    answers = scripts.answers(major, texts, lambda answers: [answer.sqlstate for answer in answers] == expected)
    assert [answer.sqlstate for answer in answers] == expected
