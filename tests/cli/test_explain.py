"""`pubcheck explain`: options, exit status, streams, and what a user is told when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call

SHOP = (
    "CREATE TABLE orders (id int, region text, PRIMARY KEY (id, region));\nCREATE TABLE items (id int PRIMARY KEY);\n"
    "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu'), items;\nCREATE PUBLICATION us FOR TABLE orders;\n"
)
REFUSED = "CREATE TABLE t (a int);\nCREATE PUBLICATION p FOR TABLE t WHERE (random() > 1);\n"


@pytest.fixture(autouse=True)
def _shop(pubcheck: Call) -> None:
    Path("shop.sql").write_text(SHOP)


def test_text_in_a_pipe_is_plain(pubcheck: Call) -> None:
    called = pubcheck("explain", "shop.sql")
    assert (called.status, called.err) == (0, "")
    assert called.out.startswith("Publication eu (tables by name)\n")
    assert called.out.endswith("\n2 publications of 2 tables, from 4 statements of 1 file (PostgreSQL 18).\n")
    assert "\x1b" not in called.out


def test_colour_is_rich_text(pubcheck: Call) -> None:
    assert "\x1b[" in pubcheck("explain", "--color", "always", "shop.sql").out


def test_json(pubcheck: Call) -> None:
    value = json.loads(pubcheck("explain", "--format", "json", "--postgres", "16", "shop.sql").out)
    assert (value["postgres"], value["statements"]) == (16, 4)
    assert [row["name"] for row in value["units"][0]["publications"]] == ["eu", "us"]


def test_a_page_in_a_file(pubcheck: Call) -> None:
    called = pubcheck("explain", "--format", "html", "-o", "page.html", "shop.sql")
    assert (called.status, called.out, called.err) == (0, "", "")
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_standard_input_and_several_units(pubcheck: Call) -> None:
    called = pubcheck("explain", "-", "shop.sql", stdin=b"CREATE TABLE t (a int);\nCREATE PUBLICATION p FOR TABLE t;\n")
    assert called.status == 1  # its UPDATE is refused
    assert "Publication p " in called.out
    assert called.out.startswith("<stdin>\n=======\n")


def test_publications_and_tables_can_be_chosen(pubcheck: Call) -> None:
    out = pubcheck("explain", "--publication", "eu", "--table", "items", "shop.sql").out
    assert "public.items" in out
    assert "public.orders" not in out
    assert "Publication us" not in out
    assert "[PUB604]" not in out


def test_a_partitioned_table_means_its_partitions(pubcheck: Call) -> None:
    Path("tree.sql").write_text(
        "CREATE TABLE r (a int PRIMARY KEY) PARTITION BY LIST (a);\nCREATE TABLE r1 PARTITION OF r FOR VALUES IN (1);\n"
        "CREATE PUBLICATION p FOR TABLE r;\n"
    )
    assert "public.r1" in pubcheck("explain", "--table", "r", "tree.sql").out


@pytest.mark.parametrize("option", ["--subscription", "--together-publications"])
def test_publications_together(pubcheck: Call, option: str) -> None:
    out = pubcheck("explain", option, "eu, us", "shop.sql").out
    assert "One subscription to eu, us" in out
    assert "widened by      us: without it fewer rows would be published" in out


def test_no_publication_is_said(pubcheck: Call) -> None:
    called = pubcheck("explain", "-", stdin=b"CREATE TABLE t (a int);")
    assert called.status == 0
    assert "No publication found in 1 statement of 1 file (PostgreSQL 18)." in called.out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--postgres", "15,18", "shop.sql"), "explain takes one version at a time"),
        (("--postgres", "20", "shop.sql"), "PostgreSQL 20 is not supported"),
        (("--publication", "eux", "shop.sql"), "there is no publication eux; did you mean eu?"),
        (("--subscription", "eu,uk", "shop.sql"), "there is no publication uk"),
        (("--table", "order", "shop.sql"), "no publication publishes a table order"),
        (("--format", "pdf", "shop.sql"), "Invalid value for '--format'"),
        (("-o", "no/such/folder/x", "shop.sql"), "--output: no/such/folder/x: No such file or directory"),
        (("--config", "none.toml", "shop.sql"), "none.toml: cannot be read"),
    ],
)
def test_wrong_calls_are_told_why(pubcheck: Call, arguments: tuple[str, ...], reason: str) -> None:
    called = pubcheck("explain", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in called.err


def test_what_is_refused_is_noted_and_the_rest_explained(pubcheck: Call) -> None:
    Path("a.sql").write_text(REFUSED + "CREATE PUBLICATION fine FOR TABLE t;\n")
    called = pubcheck("explain", "a.sql")
    assert called.status == 1
    assert "Publication fine" in called.out
    assert "a.sql:2: " in called.out


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("t.sql",), 1),
        (("--publication", "other", "t.sql"), 0),
        (("--fail-on", "error", "wide.sql"), 0),
        (("wide.sql",), 1),
        (("elsewhere.sql",), 0),
        (("--fail-on-assumed", "--fail-on", "note", "elsewhere.sql"), 1),
        (("--config", "ignoring.toml", "t.sql"), 0),
    ],
)
def test_the_exit_status_is_that_of_lint_for_what_is_told(
    pubcheck: Call, arguments: tuple[str, ...], status: int
) -> None:
    table = "CREATE TABLE t (a int, b text PRIMARY KEY);\n"
    other = "CREATE TABLE u (a int PRIMARY KEY);\nCREATE PUBLICATION other FOR TABLE u;\n"
    Path("t.sql").write_text(f"{table}CREATE PUBLICATION p FOR TABLE t WHERE (a = 1);\n{other}")
    Path("wide.sql").write_text(
        "CREATE TABLE t (a int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t WHERE (a > 0);\n"
        "CREATE PUBLICATION q FOR TABLE t;\nCREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p, q;\n"
    )
    Path("elsewhere.sql").write_text("CREATE PUBLICATION p FOR TABLE t WHERE (a = 1);\n")
    Path("ignoring.toml").write_text("ignore = ['PUB301', 'PUB5', 'PUB6']\n")
    assert pubcheck("explain", *arguments).status == status


def test_databases_in_several_processes_are_told_in_their_order(pubcheck: Call) -> None:
    for name in "abc":
        Path(f"{name}.sql").write_text(
            f"CREATE TABLE {name} (id int PRIMARY KEY);\nCREATE PUBLICATION p{name} FOR TABLE {name};"
        )
    paths = ("c.sql", "a.sql", "b.sql")
    assert pubcheck("explain", "--jobs", "2", *paths) == pubcheck("explain", *paths)


def test_a_file_that_cannot_be_read_is_noted_and_the_rest_explained(pubcheck: Call) -> None:
    called = pubcheck("explain", "missing.sql", "shop.sql")
    assert called.status == 1
    assert "Publication eu" in called.out
    assert "missing.sql:1: " in called.out


def test_the_last_major_of_the_configuration_counts(pubcheck: Call) -> None:
    Path("pubcheck.toml").write_text("postgres = [15, 16]\nselect = ['PUB1']\n")
    out = pubcheck("explain", "shop.sql").out
    assert "(PostgreSQL 16)" in out
    assert "[PUB604]" in out


def _messages(pubcheck: Call, schema: str) -> list[str]:
    Path("schema.sql").write_text(schema)
    [unit] = json.loads(pubcheck("explain", "schema.sql", "--stream", "--format", "json").out)["units"]
    [publication] = unit["publications"]
    return [line for answer in publication["answers"] for line in answer["messages"]]


def test_the_examples_are_shown_as_messages_of_the_stream(pubcheck: Call) -> None:
    schema = "CREATE TABLE t (id int PRIMARY KEY, v text); CREATE PUBLICATION p FOR TABLE t"
    assert _messages(pubcheck, schema + " WHERE (id = 5)") == [
        "RELATION public.t identity d (id* integer, v text)",
        "INSERT public.t id=5 v='…'",
        "INSERT public.t id=5 v='…'",
        "DELETE public.t key(id=5)",
        "UPDATE public.t id=5 v='…'",
        "TRUNCATE public.t",
    ]
    assert _messages(pubcheck, f"{schema}; ALTER TABLE t REPLICA IDENTITY FULL") == [
        "RELATION public.t identity f (id* integer, v* text)",
        "INSERT public.t id='…' v='…'",
        "UPDATE public.t old(id='…' v='…') new(id='…' v='…')",
        "DELETE public.t old(id='…' v='…')",
        "TRUNCATE public.t",
    ]
    Path("schema.sql").write_text(schema)
    assert "messages " not in pubcheck("explain", "schema.sql").out
    assert "RELATION public.t identity d" in pubcheck("explain", "schema.sql", "--stream").out
