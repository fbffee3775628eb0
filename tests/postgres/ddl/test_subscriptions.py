"""ALTER SUBSCRIPTION ... ADD PUBLICATION, as servers 15 to 18 answer it."""

from __future__ import annotations

import pytest

from tests.support.linting import lint

MADE = "CREATE SUBSCRIPTION s CONNECTION 'dbname=x' PUBLICATION p WITH (connect = false);\n"
ADDED = "ALTER SUBSCRIPTION s ADD PUBLICATION q WITH (refresh = false);"
TWICE = [("42710", 'publication "p" is already in subscription "s"', "certain")]


def answers(script: str) -> list[tuple[str, str, str]]:
    return [
        (finding.server.sqlstate, finding.server.message, finding.certainty)
        for finding in lint(script)
        if finding.rule == "PUB810" and finding.server
    ]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ALTER SUBSCRIPTION s ADD PUBLICATION p;", TWICE),
        ("ALTER SUBSCRIPTION s ADD PUBLICATION q, p WITH (refresh = false);", TWICE),
        (
            "ALTER SUBSCRIPTION s SET PUBLICATION q WITH (refresh = false);"
            " ALTER SUBSCRIPTION s ADD PUBLICATION p WITH (refresh = false);",
            [],
        ),
    ],
)
def test_a_publication_that_a_subscription_has_cannot_be_added(
    script: str, expected: list[tuple[str, str, str]]
) -> None:
    assert answers(MADE + script) == expected


def test_what_a_block_perhaps_added_is_only_assumed_to_be_there() -> None:
    block = f"DO $$ BEGIN IF random() > 0.5 THEN {ADDED} END IF; END $$;"
    refusals = answers(MADE + block + ADDED)
    assert [certainty for _, _, certainty in refusals] == ["assumed"]
