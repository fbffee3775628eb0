"""A CREATE TABLE of columns with known definitions does what it does when the grammar reads it."""

from __future__ import annotations

from random import Random
from typing import Any

import pglast.keywords
import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog.journaled_dict import Heap, Multimap
from pubcheck.postgres.ddl.tables import known_columns
from pubcheck.postgres.ddl.tables.known_columns import KnownColumns, parse_table
from pubcheck.postgres.parse import LARGEST, Node, parse
from pubcheck.source import Source

MAJORS = (15, 18)


def table(name: str, *columns: str, after: str = "") -> str:
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(columns) + f"\n){after};\n"


def outcome(unit: Unit) -> tuple[list[dict[str, Any]], list[Any]]:
    """The catalogs of the majors after a unit, and the findings."""
    followed = Linter(Config(postgres=MAJORS)).follow(unit)
    assert followed.result.faults == ()
    catalogs = []
    for replay in followed.replays:
        rows = vars(replay.catalog).items()
        catalog = {name: dict(heap) for name, heap in rows if isinstance(heap, Heap)}
        catalog |= {name: heap.groups for name, heap in rows if isinstance(heap, Multimap)}
        catalogs.append(catalog)
    return catalogs, list(followed.result.diagnostics)


def compare(sql: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many tables were read without the grammar, if the outcome is the grammar's."""
    unit = Unit((Source("schema.sql", f"{sql};\nCREATE PUBLICATION everything FOR ALL TABLES;\n"),))
    unparsed = 0

    def counted(sql: str, known: list[KnownColumns], most: int) -> tuple[str, Node] | None:
        nonlocal unparsed
        statement = parse_table(sql, known, most)
        unparsed += statement is not None and "columns" in statement[1]
        return statement

    def by_grammar(sql: str, known: list[KnownColumns], most: int) -> tuple[str, Node] | None:
        return parse(sql, most)

    with monkeypatch.context() as patch:
        patch.setattr(known_columns, "parse_table", by_grammar)
        expected = outcome(unit)
        patch.setattr(known_columns, "parse_table", counted)
        assert outcome(unit) == expected
    return unparsed


SCHEMA = "CREATE SCHEMA app;\nCREATE TABLE app.before (note text);\n"
FIRST = table("app.first", "id bigint NOT NULL", "note text", "at timestamp with time zone DEFAULT now() NOT NULL")
AGAIN = table("app.again", "at text", "id timestamp with time zone DEFAULT now() NOT NULL", "note bigint NOT NULL")
THIRD, FOURTH = AGAIN.replace("again", "third"), AGAIN.replace("again", "fourth")


@pytest.mark.parametrize(
    ("sql", "unparsed"),
    [
        (FIRST + AGAIN, 1),
        (FIRST + AGAIN + THIRD, 2),
        (FIRST + AGAIN + AGAIN, 2),  # the second one is refused
        ("SET search_path = app, pg_catalog;\n" + FIRST + AGAIN, 0),
        (FIRST + "SET search_path = app, pg_catalog;\nCREATE DOMAIN app.text AS integer;\n" + AGAIN, 0),
        (FIRST + "SET search_path = app, pg_catalog;\nCREATE DOMAIN app.text AS integer;\nRESET ALL;\n" + AGAIN, 0),
        ("CREATE DOMAIN app.text AS integer;\n" + FIRST + AGAIN, 1),
        (FIRST + "CREATE FUNCTION now() RETURNS text RETURN 'x';\n" + AGAIN, 0),
        (FIRST + "BEGIN;\nCREATE FUNCTION now() RETURNS text RETURN 'x';\nROLLBACK;\n" + AGAIN, 0),
        (
            f"BEGIN;\n{FIRST}SAVEPOINT a;\nCREATE FUNCTION now() RETURNS text RETURN 'x';\n"
            f"{AGAIN}ROLLBACK TO a;\n{AGAIN}{THIRD}{FOURTH}COMMIT;\n",
            1,
        ),
        (f"BEGIN;\n{FIRST}{AGAIN}ROLLBACK;\n{AGAIN}{FIRST}{THIRD}", 2),
        (FIRST + "CREATE ROLE r;\nSET ROLE r;\n" + AGAIN, 0),
        ("CREATE ROLE r;\n" + FIRST + "SET ROLE r;\n" + AGAIN + "RESET ROLE;\n" + AGAIN, 0),
        (
            "CREATE TYPE app.mood AS ENUM ('a');\n"
            + table("app.t", "m app.mood DEFAULT 'a'::app.mood", "n text DEFAULT 'a'::app.mood")
            + "DROP TYPE app.mood CASCADE;\nCREATE TYPE app.mood AS ENUM ('b');\n"
            + table("app.u", "m app.mood DEFAULT 'a'::app.mood", "n text DEFAULT 'a'::app.mood"),
            0,
        ),
        (FIRST + "CREATE TEMP TABLE text (id integer);\n" + AGAIN, 0),
        (FIRST + AGAIN.replace("\n)", "\n) PARTITION BY LIST (at)"), 0),
        (FIRST + AGAIN.replace("\n)", "\n) WITH (\n    fillfactor=70\n)"), 0),
        (table("app.a", "id int) WITH (fillfactor=70") + table("app.b", "n int) WITH (fillfactor=70"), 0),
        (FIRST + AGAIN.replace("note ", "at "), 0),  # twice the same column
        (FIRST + AGAIN.replace("note ", "ctid "), 0),
        (FIRST + AGAIN.replace("note ", "select "), 0),
        (FIRST + AGAIN.replace("note ", '"Note" '), 0),
        (FIRST + AGAIN.replace("note ", "n" * 64 + " "), 0),
        (FIRST + AGAIN.replace("note ", "ü "), 0),
        (table("app.a", "i int -- x,", "b text") + table("app.b", "b text", "j int -- x,"), 0),
        (table("app.a", "i int /* x", "*/, b text") + table("app.b", "b int /* x", "*/, i text"), 0),
        (table("app.a", "i text DEFAULT 'x", "y'") + table("app.b", "j text DEFAULT 'x", "y'"), 0),
        (table("app.a", "i text DEFAULT 'x,y'", "b int") + table("app.b", "b int", "j text DEFAULT 'x,y'"), 1),
        (table("app.a", "i int, b int") + table("app.b", "b int, i int"), 0),
        (table("app.a", "n json", "i time") + table("app.b", "format json", "without time"), 0),
        (table("app.a", "i serial", "j int CHECK (j > 0)") + table("app.b", "j serial", "k int CHECK (k > 0)"), 0),
        (table("app.a", "i int GENERATED ALWAYS AS IDENTITY") * 2, 0),
        (table("app.a", "i int REFERENCES x") + table("app.b", "i int REFERENCES x"), 0),
        (table("app.a", "i int CONSTRAINT c NOT NULL") + table("app.b", "j int CONSTRAINT c NOT NULL"), 0),
        (table("app.a", "i varchar(0)") + table("app.b", "i varchar(0)"), 0),
        (table("app.a", "i trigger") + table("app.b", "i trigger"), 0),
        (table("app.a", "i int[]") + table("app.b", "j int[]"), 1),
        (table("app.a", "i text[] DEFAULT '{}'") + table("app.b", "j text[] DEFAULT '{}'"), 0),
        (table("app.a", 'i text COLLATE "C"') + table("app.b", 'i text COLLATE "C"'), 0),
        (table("app.a", "i text STORAGE plain") + table("app.b", "i text STORAGE plain"), 0),
        (table("other.a", "i text") + table("other.b", "i text") + table("other.c", "i text"), 1),
    ],
)  # fmt: skip
def test_the_outcome_is_that_of_the_grammar(sql: str, unparsed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(SCHEMA + sql, monkeypatch) == unparsed


def test_tables_and_statements_between_them_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    types = ("bigint", "text", "numeric(12,2)", "timestamp with time zone", "app.mood", "date", "uuid", "json", "jsonb")
    behind = ("", " NOT NULL", " DEFAULT now()", " DEFAULT NULL", " DEFAULT 1 NOT NULL", " DEFAULT gen_random_uuid()")
    between = (
        *("" for _ in range(60)), "SET search_path = app, pg_catalog;\n", "SET search_path = app;\n", "BEGIN;\n",
        "ROLLBACK;\n", "COMMIT;\n", "SAVEPOINT s;\n", "ROLLBACK TO s;\n", "CREATE DOMAIN app.date AS text;\n",
        "DROP DOMAIN app.date CASCADE;\n", "CREATE TYPE app.mood AS ENUM ('a');\n", "DROP TYPE app.mood CASCADE;\n",
        "CREATE FUNCTION app.now() RETURNS integer RETURN 1;\n", "DROP FUNCTION app.now();\n", "CREATE ROLE r;\n",
        "SET ROLE r;\n", "RESET ROLE;\n", "DROP TABLE app.table_3;\n", "ALTER TABLE app.table_2 RENAME TO table_9;\n",
    )  # fmt: skip
    unparsed = 0
    for seed in range(12):
        random = Random(seed)
        text = SCHEMA
        usual = [random.choice(types) + random.choice(behind) for _ in range(5)]
        for n in range(40):
            columns = [
                f"column_{k if random.random() < 0.98 else 0} {random.choice(usual)}"
                for k in range(random.randint(1, 3))
            ]
            text += random.choice(between) + table(f"app.table_{n}", *columns)
        unparsed += compare(text, monkeypatch)
    assert unparsed > 20


@pytest.mark.parametrize("limit", [LARGEST, 5_000])
def test_a_large_table_is_left_to_the_grammar(limit: int) -> None:
    columns = table("public.wide", *(f"column_{number} text" for number in range(100)))
    unit = Unit((Source("schema.sql", table("public.first", "id text") + columns + "CREATE PUBLICATION p;"),))
    result = Linter(Config(max_statement_size=limit)).lint(unit)
    assert ("PUB006" in [finding.rule for finding in result.diagnostics]) == (limit < LARGEST)


@pytest.mark.parametrize("kind", ["json", "character varying(3)", "double precision"])
def test_every_keyword_as_a_name_of_a_column_or_schema(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner takes some for another token before some others, so that ``format json`` is refused."""
    words = [vars(pglast.keywords)[f"{name}_KEYWORDS"] for name in CATEGORIES]
    keywords = sorted(set().union(*words))
    tables = [table(f"app.t_{number}", f"{word} {kind}") for number, word in enumerate(keywords)]
    schemas = [table(f"{word}.t", f"a {kind}") for word in keywords]
    known = table("app.first", f"a {kind}")
    assert compare(SCHEMA + known + "".join(tables + schemas), monkeypatch) > 380


CATEGORIES = ("RESERVED", "TYPE_FUNC_NAME", "COL_NAME", "UNRESERVED")
