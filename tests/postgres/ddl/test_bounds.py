"""Partitions that overlap are refused, whatever was attached, detached and rolled back before."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.support import outcomes

OVERLAP = "42P17"


@pytest.mark.parametrize("order", [(0, 10, 20, 30), (30, 20, 10, 0), (20, 0, 30, 10)])
@pytest.mark.parametrize(("start", "end"), [(0, 5), (9, 10), (5, 25), (-5, 1), (39, 50), (-5, 50), (19, 21)])
def test_a_range_that_others_take_in_part_is_refused(order: tuple[int, ...], start: int, end: int) -> None:
    made = "".join(f"CREATE TABLE t{n} PARTITION OF r FOR VALUES FROM ({n}) TO ({n + 10});" for n in order)
    said = outcomes(
        f"CREATE TABLE r (id int) PARTITION BY RANGE (id); {made}"
        f"CREATE TABLE t PARTITION OF r FOR VALUES FROM ({start}) TO ({end});"
        "CREATE TABLE before PARTITION OF r FOR VALUES FROM (MINVALUE) TO (-5);"
        "CREATE TABLE after PARTITION OF r FOR VALUES FROM (50) TO (MAXVALUE);"
        "CREATE TABLE gap PARTITION OF r FOR VALUES FROM (40) TO (50);"
    )
    assert said == [None] * 5 + [OVERLAP] + [None] * 3


def test_what_was_detached_is_free_and_what_was_rolled_back_is_as_before() -> None:
    said = outcomes(
        """
        CREATE TABLE r (id int) PARTITION BY LIST (id);
        CREATE TABLE a PARTITION OF r FOR VALUES IN (1, 2);
        CREATE TABLE b PARTITION OF r FOR VALUES IN (3);
        BEGIN;
        ALTER TABLE r DETACH PARTITION a;
        CREATE TABLE c PARTITION OF r FOR VALUES IN (2);
        ROLLBACK;
        CREATE TABLE c PARTITION OF r FOR VALUES IN (2);
        ALTER TABLE r DETACH PARTITION a;
        CREATE TABLE c PARTITION OF r FOR VALUES IN (2);
        ALTER TABLE r ATTACH PARTITION a FOR VALUES IN (1, 2);
        ALTER TABLE r ATTACH PARTITION a FOR VALUES IN (1, NULL);
        """
    )
    assert said == [None] * 7 + [OVERLAP, None, None, OVERLAP, None]
