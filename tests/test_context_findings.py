"""Files that are linted in the state that others leave: the losses that they cause at what was there before."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.support.linting import covered, lint, run

CONTEXT = """\
CREATE TABLE orders (id int, region text NOT NULL, zone text NOT NULL, PRIMARY KEY (id, region, zone));
CREATE TABLE notes (id int PRIMARY KEY, topic text, lang text NOT NULL);
CREATE TABLE log (id int, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu' AND zone = 'z'),
    notes WHERE (topic = 'a' AND lang = 'en') WITH (publish = 'insert');
CREATE PUBLICATION log FOR TABLE log;
CREATE PUBLICATION empty;
"""


def caused(file: str, context: str = CONTEXT) -> list[tuple[str, str, str]]:
    """(rule, file, line's text) of the findings that concern a file in the state that the context leaves."""
    unit = Unit((Source("schema.sql", context), Source("change.sql", file)), (18,), context=1)
    result = Linter(Config(complete=True)).lint(unit)
    assert not result.faults
    return [
        (row.rule, row.span.source.label, row.span.source.text[: row.span.end].rsplit("\n", 1)[-1])
        for row in result.diagnostics
        if any(span.source.label == "change.sql" for span in (row.span, *row.related))
    ]


NULLABLE = "ALTER TABLE orders DROP CONSTRAINT orders_pkey;\nALTER TABLE orders ALTER region DROP NOT NULL;\n"


def test_a_loss_at_an_earlier_publication_is_at_the_statement_that_causes_it() -> None:
    assert caused(NULLABLE) == [("PUB603", "change.sql", "ALTER TABLE orders")]
    # Later changes of the same table that have nothing to do with it are not blamed.
    later = "ALTER TABLE orders ADD note text;\nALTER TABLE orders ALTER note SET DEFAULT 'x';\n"
    unit = Unit((Source("schema.sql", CONTEXT), Source("change.sql", NULLABLE + later)), (18,), context=1)
    (row,) = (row for row in Linter(Config(complete=True)).lint(unit).diagnostics if row.object == "public.orders")
    assert row.statement is not None
    assert row.statement.index == 1
    assert [covered(span) for span in row.related if span.message == "the object that this finding is about"] == [
        "region"
    ]
    block = "DO $$ BEGIN ALTER TABLE orders DROP CONSTRAINT orders_pkey, ALTER zone DROP NOT NULL; END $$;"
    assert [row[:2] for row in caused(block)] == [("PUB603", "change.sql")]


def test_a_statement_whose_changes_were_undone_is_not_the_cause() -> None:
    drop = "ALTER PUBLICATION log DROP TABLE log;\n"
    undone = "BEGIN;\nALTER PUBLICATION log ADD TABLE orders;\nROLLBACK;\n"
    block = "DO $$ BEGIN ALTER PUBLICATION log ADD TABLE orders; RAISE 'no'; END $$;\n"
    for after in (undone, block):
        rows = [row for row in caused(drop + after) if row[0] == "PUB804"]
        assert rows == [("PUB804", "change.sql", "ALTER PUBLICATION log")]


def test_a_finding_that_the_context_has_is_not_one_of_the_file() -> None:
    assert {"PUB603", "PUB804"} <= {row.rule for row in lint(CONTEXT, complete=True)}
    assert caused("ALTER TABLE notes ADD more text; CREATE SCHEMA other;") == []
    assert "PUB603" not in {rule for rule, *_ in caused("ALTER TABLE notes RENAME TO remarks;")}
    assert "PUB603" not in {rule for rule, *_ in caused("ALTER TABLE notes RENAME topic TO subject;")}
    assert [row[0] for row in caused("ALTER PUBLICATION empty RENAME TO still_empty;")] == ["PUB811"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        # One more column, where another one is already reported.
        ("ALTER TABLE notes ALTER lang DROP NOT NULL;", "PUB603"),
        ("ALTER PUBLICATION log DROP TABLE log;", "PUB804"),
        ("CREATE UNLOGGED TABLE log_1 PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');", "PUB506"),
    ],
)
def test_more_of_a_finding_is_reported(change: str, rule: str) -> None:
    assert (rule, "change.sql") in [row[:2] for row in caused(change)]


def test_the_children_of_an_assumed_table_survive_it() -> None:
    result = run(
        "ALTER TABLE s.a ATTACH PARTITION b FOR VALUES IN (1); ALTER TABLE s.a SET SCHEMA t;"
        "ALTER TABLE s.a SET SCHEMA t; CREATE PUBLICATION p FOR TABLE ONLY b;"
    )
    assert not result.faults


def test_a_column_that_the_message_only_counts_is_one_more() -> None:
    stored = "int GENERATED ALWAYS AS (1) STORED"
    context = f"CREATE TABLE t (a {stored}, b {stored}, c {stored});\nCREATE PUBLICATION p FOR TABLE t;\n"
    sources = (Source("schema.sql", context), Source("change.sql", f"ALTER TABLE t ADD d {stored};"))
    rows = Linter(Config(complete=True, extend_select=("PUB808",))).lint(Unit(sources, (18,), context=1)).diagnostics
    assert [row.span.source.label for row in rows if row.rule == "PUB808"] == ["change.sql"]
