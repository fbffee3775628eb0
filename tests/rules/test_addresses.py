"""Every rule has an address: what finds it, what it says, what fixes it and what tests it are found by its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.checks.messages.refusals import MESSAGES
from pubcheck.rule_address import address
from pubcheck.rulebook import RULES
from tests.rules.test_scripts import ABOUT_FILES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_an_address(code: str) -> None:
    found = address(code)
    assert (ROOT / found.page).is_file()
    assert found.finders
    assert bool(found.messages) == (code in MESSAGES)
    assert bool(found.fixes) == found.rule.fix, "the page says whether the rule has fixes"
    assert (ROOT / found.tests).is_file() or code in ABOUT_FILES


@pytest.mark.parametrize("code", MESSAGES)
def test_every_key_with_a_text_is_raised(code: str) -> None:
    assert {site.name for site in address(code).finders} >= MESSAGES[code].keys()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("PUB503", "postgres/ddl/publications/alter.py via-root-needed"),
        ("PUB804", "checks/silent/publication_scope.py empty"),
        ("PUB406", "checks/write/replica_identity.py _rule"),
        ("PUB137", "engine/blocks.py BlockRunner._report_failure"),
    ],
)
def test_a_finder_is_the_place_that_reports(code: str, name: str) -> None:
    assert name in {f"{site.path} {site.name}" for site in address(code).finders}
