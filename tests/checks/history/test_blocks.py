"""Statements inside DO blocks stand where their block stands in the history."""

from __future__ import annotations

from tests.checks.history.finding import TABLES, of, only

RULE = "PUB707"


def block(sql: str) -> str:
    return f"DO $$ BEGIN {sql}; END $$;\n"


def test_what_a_block_makes_was_there_before_later_statements() -> None:
    lists = "CREATE PUBLICATION p FOR TABLE t (id, a, b)"
    column = "ALTER TABLE t ADD COLUMN c int"
    assert only(RULE, TABLES, block(lists) + f"{column};").certainty == "certain"
    assert only(RULE, TABLES, f"{lists};" + block(column)).certainty == "certain"
    assert only(RULE, TABLES, block(lists) + block(column)).certainty == "certain"
    assert only(RULE, TABLES, block(f"{lists}; {column}")).certainty == "certain"
    assert of(RULE, TABLES, block(column) + f"{lists};") == []
    assert of(RULE, TABLES, block(f"{column}; {lists}")) == []


def test_a_member_added_twice_is_told_unless_the_block_looks_or_catches() -> None:
    add = "ALTER PUBLICATION p ADD TABLE t"
    first = TABLES + "CREATE PUBLICATION p FOR TABLE t;"
    assert only("PUB130", first, block(add)).certainty == "certain"
    assert of("PUB130", first, f"DO $$ BEGIN {add}; EXCEPTION WHEN duplicate_object THEN NULL; END $$;") == []
    looks = "SELECT FROM pg_publication_tables WHERE pubname = 'p' AND tablename = 't'"
    assert of("PUB130", first, block(f"IF NOT EXISTS ({looks}) THEN {add}; END IF")) == []


def test_a_publication_made_anew_in_a_block_is_told() -> None:
    anew = "DROP PUBLICATION IF EXISTS p; CREATE PUBLICATION p FOR TABLE u"
    finding = only("PUB710", TABLES + "CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLE t;", block(anew))
    assert (finding.severity, finding.certainty) == ("warning", "certain")
    assert finding.statement is not None
    assert finding.statement.embedded == (1,)
