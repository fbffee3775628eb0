"""Writes that a rule replaces never reach the table, so that nothing refuses them (EXPLAIN on servers 15 to 18)."""

from __future__ import annotations

import pytest

from tests.support.linting import lint

TABLES = (
    "CREATE TABLE a (x int, y int);\nCREATE TABLE b (x int PRIMARY KEY, y int);\nCREATE PUBLICATION p FOR TABLE a;\n"
)
NOTHING = "CREATE RULE r AS ON UPDATE TO a DO INSTEAD NOTHING;\n"


@pytest.mark.parametrize(
    ("script", "refused"),
    [
        (NOTHING, ["delete"]),
        ("CREATE RULE r AS ON DELETE TO a DO INSTEAD UPDATE b SET y = 2 WHERE x = OLD.x;", ["update"]),
        ("CREATE RULE r AS ON UPDATE TO a DO INSTEAD SELECT 1;", ["delete"]),
        ("CREATE RULE r AS ON DELETE TO a WHERE OLD.x > 1 DO INSTEAD NOTHING;", ["update", "delete"]),
        ("CREATE RULE r AS ON DELETE TO a DO ALSO NOTHING;", ["update", "delete"]),
        (NOTHING + "ALTER TABLE a DISABLE RULE r;", ["update", "delete"]),
        (NOTHING + "ALTER TABLE a ENABLE REPLICA RULE r;", ["update", "delete"]),
        (NOTHING + "ALTER TABLE a DISABLE RULE r; ALTER TABLE a ENABLE RULE r;", ["delete"]),
        ("CREATE RULE r AS ON DELETE TO b DO INSTEAD DELETE FROM a WHERE x = OLD.x;", ["update", "delete"]),
        (NOTHING + "DROP RULE r ON a;", ["update", "delete"]),
        (NOTHING + "ALTER RULE r ON a RENAME TO s;", ["delete"]),
        (NOTHING + "CREATE OR REPLACE RULE r AS ON INSERT TO a DO INSTEAD NOTHING;", ["update", "delete"]),
    ],
)
def test_a_rule_that_always_does_something_instead(script: str, refused: list[str]) -> None:
    operations = [
        str(finding.operation) for finding in lint(TABLES + script, complete=True) if finding.rule == "PUB302"
    ]
    assert sorted(operations, reverse=True) == refused


def test_a_rule_of_the_partitioned_table_says_nothing_of_its_partitions() -> None:
    script = (
        "CREATE TABLE a (x int) PARTITION BY LIST (x); CREATE TABLE a1 PARTITION OF a FOR VALUES IN (1);"
        " CREATE PUBLICATION p FOR TABLE a;" + NOTHING
    )
    writes = [
        (finding.object, finding.operation) for finding in lint(script, complete=True) if finding.phase == "write"
    ]
    assert sorted(writes) == [("public.a1", "delete"), ("public.a1", "update")]


_PARTITIONED = (
    "CREATE TABLE r (x int, y int) PARTITION BY LIST (x);\nCREATE TABLE a PARTITION OF r FOR VALUES IN (1);\n"
    "CREATE PUBLICATION p FOR TABLE r;\n"
)
_INHERITED = "CREATE TABLE r (x int, y int);\nCREATE TABLE a () INHERITS (r);\nCREATE PUBLICATION p FOR TABLE a;\n"
_ON_BOTH = NOTHING + "CREATE RULE s AS ON UPDATE TO r DO INSTEAD NOTHING;\n"


@pytest.mark.parametrize(
    ("script", "refused"),
    [
        (_PARTITIONED + NOTHING, ["update", "delete"]),
        (_PARTITIONED + _ON_BOTH, ["delete"]),
        (_PARTITIONED + _ON_BOTH + "DROP RULE s ON r;", ["update", "delete"]),
        (_PARTITIONED + NOTHING + "ALTER TABLE r DETACH PARTITION a;", []),
        (_INHERITED + NOTHING, ["update", "delete"]),
        (_INHERITED + _ON_BOTH, ["delete"]),
        (_INHERITED + NOTHING + "ALTER TABLE a NO INHERIT r;", ["delete"]),
    ],
)
def test_a_rule_of_a_partition_counts_only_in_statements_that_name_it(script: str, refused: list[str]) -> None:
    operations = [
        str(finding.operation) for finding in lint(script, complete=True) if finding.phase == "write" and finding.server
    ]
    assert sorted(operations, reverse=True) == refused


@pytest.mark.parametrize(
    ("statement", "refused"),
    [("UPDATE a SET y = 1", False), ("UPDATE r SET y = 1", True), ("DELETE FROM a", True), ("DELETE FROM r", True)],
)
def test_statements_that_a_rule_replaces_are_not_refused(statement: str, refused: bool) -> None:
    text = _PARTITIONED + NOTHING
    related = [span.start for finding in lint(text + statement, complete=True) for span in finding.related]
    assert any(start >= len(text) for start in related) is refused
