"""Filters for which the rules about what a filter can be true for are not loaded: they would find nothing."""

from __future__ import annotations

import pytest

from pubcheck.checks.registry import is_usual, load
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source

ABOUT_LOGIC = ("PUB605", "PUB607", "PUB608")


def judged(table: str, condition: str) -> tuple[bool, bool]:
    """Whether a filter is usual, and whether those rules find something about it."""
    load("silent.filter_logic")
    load("subscribe.filter_errors")
    sql = f"CREATE TABLE t (id bigint PRIMARY KEY, {table});\nCREATE PUBLICATION p FOR TABLE t WHERE ({condition});"
    followed = Linter(Config(extend_select=ABOUT_LOGIC)).follow(Unit((Source("schema.sql", sql),)))
    catalog = followed.replays[0].catalog
    (entry,) = catalog.publication_rels.values()
    assert entry.filter is not None
    usual = is_usual(catalog, catalog.relations[entry.relation], entry.filter)
    return usual, any(finding.rule in ABOUT_LOGIC for finding in followed.findings)


@pytest.mark.parametrize("operator", ["=", "<>", "!=", "<", ">", "<=", ">="])
@pytest.mark.parametrize("kind", ["smallint", "integer", "bigint"])
@pytest.mark.parametrize("number", ["0", "5", "-30000", "30000"])
def test_a_number_has_others_on_both_sides(kind: str, operator: str, number: str) -> None:
    assert judged(f"n {kind} NOT NULL", f"n {operator} {number}") == (True, False)


@pytest.mark.parametrize("text", ["", "eu", "äöü"])
@pytest.mark.parametrize("kind", ["text", "varchar", 'text COLLATE "C"'])
@pytest.mark.parametrize("operator", ["=", "<>"])
def test_a_text_is_not_the_only_one(kind: str, operator: str, text: str) -> None:
    assert judged(f"c {kind} NOT NULL", f"c {operator} '{text}'") == (True, False)


def test_several_columns_are_compared_each_by_itself() -> None:
    assert judged("a integer, b text", "id > 5 AND a = 3 AND (b <> 'x')") == (True, False)


@pytest.mark.parametrize(
    ("table", "condition", "reported"),
    [
        ("a smallint NOT NULL", "a < 40000", True),
        ("a smallint NOT NULL", "a >= -32768", True),
        ("a bigint", "a > 9223372036854775807", True),
        ("c text NOT NULL", "c >= ''", True),
        ("c varchar(3) NOT NULL", "c = 'abcd'", True),
        ("c char(3) NOT NULL", "c <> 'abcd'", True),
        ("a integer", "a > 5 AND a < 3", True),
        ("a integer NOT NULL", "a > 5 OR a < 6", True),
        ("a integer CHECK (a > 0)", "a = -1", True),
        ("a integer NOT NULL", "a IS NOT NULL", True),
        ("a integer", "a = 5 AND false", True),
        ("a integer", "1 / a = 1", True),
        ("a boolean", "a", False),
        ("a numeric(3,1)", "a = 5", False),
    ],
)
def test_what_may_be_reported_is_not_usual(table: str, condition: str, reported: bool) -> None:
    assert judged(table, condition) == (False, reported)
