"""The partitions that an UPDATE is planned for. Expected ones are those of servers (EXPLAIN)."""

from __future__ import annotations

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed

RANGES = [
    "CREATE TABLE t (a int, b int) PARTITION BY RANGE (a)",
    "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)",
    "CREATE TABLE t3 PARTITION OF t FOR VALUES FROM (30) TO (MAXVALUE)",
    "CREATE TABLE td PARTITION OF t DEFAULT",
]
LISTS = [
    "CREATE TABLE t (a int, b int) PARTITION BY LIST (a)",
    "CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1, 5, 20)",
    "CREATE TABLE t2 PARTITION OF t FOR VALUES IN (10)",
    "CREATE TABLE t3 PARTITION OF t FOR VALUES IN (NULL, 30)",
]


def planned(setup: list[str], condition: str) -> str:
    """The partitions with an identity that is refused, one at a time."""
    names = [text.split()[2] for text in setup[1:]]
    refused = []
    for name in names:
        others = [f"ALTER TABLE {other} REPLICA IDENTITY FULL" for other in names if other != name]
        session = Database(18, [*setup, *others, "CREATE PUBLICATION p FOR ALL TABLES"]).session()
        try:
            session.run(f"UPDATE t SET b = b WHERE {condition}")
        except ServerError:
            refused.append(name)
    return " ".join(refused)


@pytest.mark.parametrize(
    ("setup", "condition", "left"),
    [
        (RANGES, "a = 15", "t2"),
        (RANGES, "a < 4 + 6", "t1 td"),
        (RANGES, "NOT (a <= 12)", "t2 t3 td"),
        (RANGES, "a BETWEEN 12 AND 35", "t2 t3 td"),
        (RANGES, "a BETWEEN 12 AND 15", "t2"),
        (RANGES, "a IN (1, 12)", "t1 t2"),
        (RANGES, "a = 1 OR a > 40", "t1 t3"),
        (RANGES, "a IS NULL", "td"),
        (RANGES, "b = 1", "t1 t2 t3 td"),
        (RANGES, "b > 5 AND b < 3", ""),
        (RANGES, "false", ""),
        (LISTS, "a <> 10", "t1 t3"),
        (LISTS, "a IS NULL", "t3"),
        (LISTS, "a > 5", "t1 t2 t3"),
        (LISTS, "a = 7", ""),
    ],
)
def test_a_condition_leaves_out_partitions(setup: list[str], condition: str, left: str) -> None:
    assert planned(setup, condition) == left


def test_a_refusal_is_not_guessed() -> None:
    with pytest.raises(NotFollowed, match="leaves out the partition"):
        planned(RANGES, "abs(a) = 1")
