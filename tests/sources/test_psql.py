"""Conditions, included files and connections of psql scripts. What runs is what psql 15 ran."""

from __future__ import annotations

import pytest

from pubcheck.sources.psql import Branches, Connection, connection, included
from pubcheck.sources.statements import PsqlCommand, Splitter
from pubcheck.sources.text import Source
from tests.linting import answers, lint

T = "CREATE TABLE t (id int PRIMARY KEY, a int);\n"
REFUSED = "CREATE PUBLICATION p FOR TABLE t WHERE (a = 'x');\n"


def _runs(script: str) -> dict[str, bool | None]:
    """Of each statement, a name: whether it runs."""
    branches, found = Branches(), {}
    for item in Splitter(Source("x.sql", script)):
        if isinstance(item, PsqlCommand):
            branches.follow(item)
        else:
            found[item.text] = branches.runs
    return found


def _command(text: str) -> PsqlCommand:
    return PsqlCommand(0, len(text), text)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("\\if true\na;\n\\elif true\nb;\n\\else\nc;\n\\endif\nd;", {"a": True, "b": False, "c": False, "d": True}),
        ("\\if off\na;\n\\elif 1\nb;\n\\else\nc;\n\\endif\nd;", {"a": False, "b": True, "c": False, "d": True}),
        ("\\if :x\na;\n\\else\nb;\n\\endif\nc;", {"a": None, "b": None, "c": True}),
        ("\\if :x\na;\n\\elif true\nb;\n\\else\nc;\n\\endif", {"a": None, "b": None, "c": False}),
        ("\\if false\n\\if :x\na;\n\\else\nb;\n\\endif\n\\endif\nc;", {"a": False, "b": False, "c": True}),
        ("\\if :x\n\\if true\na;\n\\endif\n\\endif", {"a": None}),
        ("\\if nonsense\na;\n\\else\nb;\n\\endif", {"a": False, "b": True}),
        ("\\if true false\na;\n\\endif", {"a": False}),
        ("\\endif\n\\else\na;", {"a": True}),
        ("a;\n\\q\nb;", {"a": True, "b": False}),
        ("\\if :x\n\\q\n\\endif\na;", {"a": None}),
        ("\\if false\n\\q\n\\endif\na;", {"a": True}),
    ],
)
def test_branches_of_conditions(script: str, expected: dict[str, bool | None]) -> None:
    assert _runs(script) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("\\c shop", Connection("shop", "")),
        ("\\connect - app", Connection("", "app")),
        ("\\c", Connection("", "")),
        ('\\c "Shop" app host 5432', Connection("Shop", "app")),
        ("\\connect -reuse-previous=on \"dbname='shop'\"", Connection("shop", "")),
        ("\\c postgresql://host:5432/shop?sslmode=off", Connection("shop", "")),
        ("\\c :DBNAME", Connection("", "")),
        ("\\copy t from x", None),
    ],
)
def test_connections(command: str, expected: Connection | None) -> None:
    assert connection(_command(command)) == expected


def test_included_files() -> None:
    assert [included(_command(one)) for one in ("\\i 'a b.sql'", "\\ir ../c.sql ", "\\if x")] == [
        "a b.sql",
        "../c.sql",
        None,
    ]


def test_a_branch_that_is_dead_is_passed_over() -> None:
    assert answers(lint(T + "\\if false\n" + REFUSED + "\\endif\n", complete=True)) == []


def test_in_a_branch_that_may_run_everything_is_assumed() -> None:
    script = "\\if :x\nALTER TABLE t ADD b int;\n" + REFUSED + "\\endif\n"
    found = lint(T + script + "CREATE PUBLICATION q FOR TABLE t WHERE (b = 1 AND c = 1);", complete=True)
    assert {one.certainty for one in found} == {"assumed"}


@pytest.mark.parametrize("command", ["\\i other.sql", "\\ir sub/other.sql", "SELECT 'ALTER TABLE t ADD b int' \\gexec"])
def test_what_psql_runs_from_elsewhere_is_not_followed(command: str) -> None:
    found = lint(T + command + "\nCREATE PUBLICATION p FOR TABLE t WHERE (b = 1);", complete=True)
    assert [one[::2] for one in answers(found)] == [("42703", "assumed")]


def test_an_included_file_among_the_sources_is_followed() -> None:
    found = lint("CREATE TABLE u ();", T + "\\i 1.sql\n" + "CREATE PUBLICATION p FOR TABLE t WHERE (b = 1);")
    assert [one[::2] for one in answers(found)] == [("42703", "certain")]


@pytest.mark.parametrize(
    ("script", "sqlstates"),
    [
        ("SET search_path = pg_catalog;\n\\c -\n" + REFUSED, ["22P02"]),
        ("BEGIN; DROP TABLE t;\n\\c\n" + REFUSED, ["22P02"]),
        ("CREATE TEMP TABLE t (a text);\n\\c -\n" + REFUSED, ["22P02"]),
        ("CREATE DATABASE shop;\n\\c shop\nCREATE TABLE t (a text);\n" + REFUSED, []),
        ("CREATE SCHEMA s; ALTER ROLE postgres SET search_path = s;\n\\c -\nCREATE TABLE t (a text);\n" + REFUSED, []),
        ("CREATE ROLE app;\n\\c - app\nCREATE PUBLICATION p FOR ALL TABLES;", ["42501"]),
        ("CREATE ROLE app;\n\\c shop app\nCREATE PUBLICATION p FOR ALL TABLES;", ["42501"]),
        (
            "\\c shop\nCREATE PUBLICATION p;\n\\c shop2\nCREATE PUBLICATION p;\n\\c shop\nCREATE PUBLICATION p;",
            ["42710"],
        ),
    ],
)
def test_another_connection(script: str, sqlstates: list[str]) -> None:
    assert [one[0] for one in answers(lint(T + script, complete=True))] == sqlstates
