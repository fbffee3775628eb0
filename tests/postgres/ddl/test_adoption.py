"""Relations that are referred to before they are made, or that are perhaps made twice: nothing of them is lost."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.support import columns, fold
from tests.support.linting import lint, writes

TWICE = (
    "ALTER TABLE t ADD PRIMARY KEY (z); CREATE PUBLICATION p FOR TABLE t (z, n); CREATE TABLE t ()",
    "ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b); CREATE TABLE t AS SELECT * FROM x",
    "ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b); CREATE TABLE t AS EXECUTE q",
    "ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b); CREATE TABLE t () INHERITS (x)",
    "ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b); CREATE VIEW t AS SELECT 1",
    "CREATE TABLE t AS EXECUTE q; ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b);"
    "CREATE TABLE IF NOT EXISTS t AS EXECUTE q",
    "CREATE TABLE t AS SELECT * FROM x; ALTER TABLE t ADD PRIMARY KEY (b); CREATE PUBLICATION p FOR TABLE t (a, b);"
    "CREATE TABLE t (a int)",
)


@pytest.mark.parametrize("text", TWICE)
@pytest.mark.parametrize("complete", [True, False])
def test_a_relation_that_is_perhaps_made_twice_is_survived(text: str, complete: bool) -> None:
    findings = lint(text, complete=complete)
    assert complete or {finding.certainty for finding in findings} <= {"assumed"}


def test_a_key_keeps_its_columns_when_the_table_is_made() -> None:
    text = "ALTER TABLE t ADD PRIMARY KEY (id); CREATE TABLE t (a int, id int); CREATE PUBLICATION p FOR TABLE t"
    assert writes(lint(f"{text} (id)")) == []
    assert {write[1] for write in writes(lint(f"{text} (a)"))} == {"update", "delete"}


def test_a_table_of_unknown_columns_has_those_it_was_said_to_have() -> None:
    text = "ALTER TABLE t ADD PRIMARY KEY (id, v); CREATE TABLE t AS SELECT 1 AS v, * FROM x;"
    assert {"id", "v"} <= set(columns(fold(text, complete=False), "t"))
