"""Every rule has an address: what finds it, what it says, what fixes it and what tests it are found by its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.checks.messages.refusals import MESSAGES
from pubcheck.rulebook import RULES
from tools.rule_address import address

ROOT = Path(__file__).parents[2]
REFUSED_WRITES = ("PUB301", "PUB302", "PUB303", "PUB304", "PUB406")
"""The rules about writes that the server will refuse; their texts have a module of their own."""


@pytest.mark.parametrize("code", RULES)
def test_every_rule_has_an_address(code: str) -> None:
    places = address(code)
    assert (ROOT / places.page).is_file()
    assert places.finders
    assert bool(places.messages) == (code in MESSAGES or code in REFUSED_WRITES)
    assert bool(places.fixes) == places.rule.fix, "the page says whether the rule has fixes"
    assert places.tests
    assert all((ROOT / path).is_file() for path in places.tests)


@pytest.mark.parametrize("code", MESSAGES)
def test_every_key_with_a_text_is_raised(code: str) -> None:
    assert {site.name for site in address(code).finders} >= MESSAGES[code].keys()


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("PUB503", "postgres/ddl/publications/statements.py via-root-needed"),
        ("PUB804", "checks/silent/publication_scope.py empty"),
        ("PUB302", "checks/write/replica_identity.py _identity_cause"),
        ("PUB406", "checks/write/replica_identity.py _columns_cause"),
        ("PUB137", "engine/blocks.py BlockRunner._report_failure"),
    ],
)
def test_a_finder_is_the_place_that_reports(code: str, name: str) -> None:
    assert name in {f"{site.path} {site.name}" for site in address(code).finders}


def test_a_table_that_describes_errors_raises_none() -> None:
    # The module names the key three times: two raise it, one gives its DETAIL.
    assert [site.path for site in address("PUB209").finders].count("postgres/analysis/row_filter.py") == 2


def test_the_tests_of_a_rule_that_no_script_shows_are_the_modules_that_name_it() -> None:
    assert address("PUB301").tests == ("tests/rules/PUB301.sql",)
    assert "tests/verify/test_verify.py" in address("PUB851").tests
