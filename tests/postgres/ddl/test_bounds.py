"""Partitions that overlap are refused, whatever was attached, detached and rolled back before."""

from __future__ import annotations

import pytest

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.ddl.partition_bounds import read_value
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.session import Session
from tests.postgres.ddl.expected import AnnotatedScripts
from tests.postgres.ddl.support import outcomes

OVERLAP = "42P17"
SCRIPT = r"""
    CREATE TABLE ts (id int, at timestamptz) PARTITION BY RANGE (at);
    CREATE TABLE ts1 PARTITION OF ts FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
    CREATE TABLE ts2 PARTITION OF ts FOR VALUES FROM ('2024-01-15') TO ('2024-02-15'); -- 42P17
    CREATE TABLE ts3 PARTITION OF ts FOR VALUES FROM ('2024-02-01 00:00:00') TO ('2024-03-01 00:00:00');
    CREATE TABLE ts4 PARTITION OF ts FOR VALUES FROM ('2024-02-28 00:00:00') TO ('2024-04-01'); -- 42P17
    CREATE TABLE ts5 PARTITION OF ts FOR VALUES FROM ('2024-05-01 00:00:00+00') TO ('2024-06-01 00:00:00+00');
    CREATE TABLE ts7 PARTITION OF ts FOR VALUES FROM ('2024-06-01 02:00:00+02') TO ('2024-07-01 00:00:00+00');
    CREATE TABLE ts8 PARTITION OF ts FOR VALUES FROM ('2024-08-01') TO ('2024-08-01'); -- 42P17
    CREATE TABLE ts9 PARTITION OF ts FOR VALUES FROM ('2024-09-01') TO ('2024-08-01'); -- 42P17
    CREATE TABLE ts10 PARTITION OF ts FOR VALUES FROM ('2024-13-01') TO ('2025-08-01'); -- 22008
    CREATE TABLE ts11 PARTITION OF ts FOR VALUES FROM ('nope') TO ('2025-08-01'); -- 22007
    CREATE TABLE ts12 PARTITION OF ts FOR VALUES FROM (5) TO ('2025-08-01'); -- 42804
    CREATE TABLE ts13 PARTITION OF ts FOR VALUES FROM (MINVALUE) TO ('2024-01-01');
    CREATE TABLE ts14 PARTITION OF ts FOR VALUES FROM (MINVALUE) TO ('2023-01-01'); -- 42P17
    CREATE TABLE ts15 PARTITION OF ts FOR VALUES FROM ('2025-01-01'::timestamptz) TO (now());
    CREATE TABLE ts16 PARTITION OF ts FOR VALUES FROM ('2030-02-30') TO (MAXVALUE); -- 22008
    CREATE TABLE ts17 PARTITION OF ts FOR VALUES FROM (id) TO (MAXVALUE); -- 0A000
    CREATE TABLE ts18 PARTITION OF ts FOR VALUES FROM ((SELECT now())) TO (MAXVALUE); -- 0A000
    CREATE TABLE ts19 PARTITION OF ts FOR VALUES FROM (date '2029-01-01') TO (timestamptz '2029-02-01 00:00:00Z');
    CREATE TABLE tm (at timestamp) PARTITION BY RANGE (at);
    CREATE TABLE tm1 PARTITION OF tm FOR VALUES FROM ('2024-01-01 10:00') TO ('2024-01-01 12:00:00');
    CREATE TABLE tm2 PARTITION OF tm FOR VALUES FROM ('2024-01-01 11:59:59.5') TO ('2024-01-01 13:00:00'); -- 42P17
    CREATE TABLE tm3 PARTITION OF tm FOR VALUES FROM ('2024-01-01 12:00:00.0') TO ('2024-01-01 13:00:00');
    CREATE TABLE tm4 PARTITION OF tm FOR VALUES FROM ('2024-01-01T13:00:00') TO ('2024-01-01 14:00:00+05');
    CREATE TABLE tm5 PARTITION OF tm FOR VALUES FROM ('2024-01-01 13:30:00') TO ('2024-01-01 15:00:00'); -- 42P17
    CREATE TABLE dt (d date) PARTITION BY RANGE (d);
    CREATE TABLE dt1 PARTITION OF dt FOR VALUES FROM ('2024-01-01') TO ('2024-01-31');
    CREATE TABLE dt2 PARTITION OF dt FOR VALUES FROM ('2024-02-30') TO ('2024-03-31'); -- 22008
    CREATE TABLE bi (id bigint, n numeric) PARTITION BY RANGE (id);
    CREATE TABLE bi1 PARTITION OF bi FOR VALUES FROM (0) TO (3000000000);
    CREATE TABLE bi2 PARTITION OF bi FOR VALUES FROM (2999999999) TO (4000000000); -- 42P17
    CREATE TABLE bi3 PARTITION OF bi FOR VALUES FROM (3000000000) TO ('4000000000');
    CREATE TABLE bi4 PARTITION OF bi FOR VALUES FROM (4000000000) TO ('x'); -- 22P02
    CREATE TABLE bi5 PARTITION OF bi FOR VALUES FROM (4000000000) TO (5000000000.5);
    CREATE TABLE bi6 PARTITION OF bi FOR VALUES FROM (99999999999999999999) TO (MAXVALUE); -- 22003
    CREATE TABLE bi7 PARTITION OF bi FOR VALUES FROM (-10) TO (1 - 1);
    CREATE TABLE bi8 PARTITION OF bi FOR VALUES FROM (true) TO (false); -- 42804
    CREATE TABLE bo (f boolean) PARTITION BY LIST (f);
    CREATE TABLE bo1 PARTITION OF bo FOR VALUES IN (true);
    CREATE TABLE bo2 PARTITION OF bo FOR VALUES IN ('t', false); -- 42P17
    CREATE TABLE bo3 PARTITION OF bo FOR VALUES IN ('f');
    CREATE TABLE bo4 PARTITION OF bo FOR VALUES IN (false); -- 42P17
    CREATE TABLE bo5 PARTITION OF bo FOR VALUES IN ('maybe'); -- 22P02
    CREATE TYPE en AS ENUM ('a', 'b', 'c');
    CREATE TABLE le (e en) PARTITION BY LIST (e);
    CREATE TABLE le1 PARTITION OF le FOR VALUES IN ('a', 'b');
    CREATE TABLE le3 PARTITION OF le FOR VALUES IN ('nope'); -- 22P02
    CREATE TABLE le4 PARTITION OF le FOR VALUES IN ('c', NULL);
    CREATE TABLE re (e en) PARTITION BY RANGE (e);
    CREATE TABLE re1 PARTITION OF re FOR VALUES FROM ('a') TO ('b');
    CREATE TABLE ls (k varchar(3)) PARTITION BY LIST (k);
    CREATE TABLE ls1 PARTITION OF ls FOR VALUES IN ('abcd'); -- 22001
    CREATE TABLE ls2 PARTITION OF ls FOR VALUES IN ('abc', 'abc');
    CREATE TABLE ls4 PARTITION OF ls FOR VALUES IN (upper('x'));
    CREATE TABLE lu (k uuid) PARTITION BY LIST (k);
    CREATE TABLE lu1 PARTITION OF lu FOR VALUES IN ('00000000-0000-0000-0000-000000000001');
    CREATE TABLE lu2 PARTITION OF lu FOR VALUES IN ('00000000-0000-0000-0000-000000000001'); -- 42P17
    CREATE TABLE lu3 PARTITION OF lu FOR VALUES IN ('zz'); -- 22P02
    CREATE TABLE ln (k numeric) PARTITION BY LIST (k);
    CREATE TABLE ln1 PARTITION OF ln FOR VALUES IN (1, 2.0);
    CREATE TABLE lc (k char(3)) PARTITION BY LIST (k);
    CREATE TABLE lc1 PARTITION OF lc FOR VALUES IN ('EUR');
    CREATE TABLE lc2 PARTITION OF lc FOR VALUES IN ('EUR'); -- 42P17
    CREATE TABLE rx (k text) PARTITION BY RANGE (k);
    CREATE TABLE rx1 PARTITION OF rx FOR VALUES FROM ('a') TO ('m');
    CREATE TABLE rp (a int, b int) PARTITION BY RANGE ((a + b));
    CREATE TABLE rp1 PARTITION OF rp FOR VALUES FROM (1) TO (5);
    CREATE TABLE ry (a int, d date) PARTITION BY RANGE (EXTRACT(year FROM d));
    CREATE TABLE ry1 PARTITION OF ry FOR VALUES FROM (2020) TO (2021);
    CREATE TABLE bo6 (f boolean) PARTITION BY LIST (f);
    CREATE TABLE bo7 PARTITION OF bo6 FOR VALUES IN ('Yes');
    CREATE TABLE bo8 PARTITION OF bo6 FOR VALUES IN ('on'); -- 42P17
    CREATE TABLE bo9 PARTITION OF bo6 FOR VALUES IN ('0');
    CREATE TABLE bo10 PARTITION OF bo6 FOR VALUES IN (false); -- 42P17
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE TABLE l (m mood NOT NULL) PARTITION BY LIST (m);
    CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('sad');
    CREATE TABLE l2 PARTITION OF l FOR VALUES IN ('ok', 'sad'); -- 42P17
    CREATE TABLE l3 PARTITION OF l FOR VALUES IN ('nope'); -- 22P02
    CREATE TABLE l4 PARTITION OF l FOR VALUES IN ('ok', NULL);
    CREATE TABLE l5 PARTITION OF l FOR VALUES IN (NULL); -- 42P17
    CREATE TABLE l6 PARTITION OF l FOR VALUES IN ('ok'); -- 42P17
    ALTER TYPE mood RENAME VALUE 'ok' TO 'fine';
    CREATE TABLE l7 PARTITION OF l FOR VALUES IN ('fine'); -- 42P17
    ALTER TYPE mood ADD VALUE 'ok';
    CREATE TABLE l8 PARTITION OF l FOR VALUES IN ('ok');
    CREATE TABLE l9 PARTITION OF l FOR VALUES IN ('happy', 'happy');
    CREATE TABLE tc (k text COLLATE "C" NOT NULL) PARTITION BY RANGE (k);
    CREATE TABLE tc1 PARTITION OF tc FOR VALUES FROM ('A') TO ('Z');
    CREATE TABLE tc2 PARTITION OF tc FOR VALUES FROM ('a') TO ('z');
    CREATE TABLE tc3 PARTITION OF tc FOR VALUES FROM ('b') TO ('c'); -- 42P17
    CREATE TABLE tc4 PARTITION OF tc FOR VALUES FROM ('Z') TO ('a');
    CREATE TABLE tc5 PARTITION OF tc FOR VALUES FROM ('zz') TO ('z'); -- 42P17
    CREATE TABLE tc6 PARTITION OF tc FOR VALUES FROM ('z') TO (MAXVALUE);
    ALTER TABLE tc DETACH PARTITION tc2;
    ALTER TABLE tc ATTACH PARTITION tc2 FOR VALUES FROM ('b') TO ('zz'); -- 42P17
    ALTER TABLE tc ATTACH PARTITION tc2 FOR VALUES FROM ('b') TO ('c');
    CREATE TABLE t9 (a varchar(10) COLLATE "POSIX", b int) PARTITION BY RANGE (a, b);
    CREATE TABLE t91 PARTITION OF t9 FOR VALUES FROM ('a', 1) TO ('a', 5);
    CREATE TABLE t92 PARTITION OF t9 FOR VALUES FROM ('a', 4) TO ('a', 9); -- 42P17
    CREATE TABLE t93 PARTITION OF t9 FOR VALUES FROM ('a', MAXVALUE) TO ('b', MINVALUE);
    CREATE TABLE t94 PARTITION OF t9 FOR VALUES FROM ('a', 7) TO ('aa', MINVALUE); -- 42P17
    CREATE TABLE t95 PARTITION OF t9 FOR VALUES FROM (MINVALUE, 5) TO ('a', 1); -- 42804
    CREATE TABLE t96 PARTITION OF t9 FOR VALUES FROM ('b', 1) TO (MAXVALUE, MINVALUE); -- 42804
    CREATE TABLE t97 PARTITION OF t9 FOR VALUES FROM ('b', 1) TO (MAXVALUE, MAXVALUE);
    CREATE TABLE tx (a text, b int) PARTITION BY RANGE (a, b);
    CREATE TABLE tx1 PARTITION OF tx FOR VALUES FROM (MINVALUE, 5) TO ('a', 1); -- 42804
    CREATE TABLE d1 (a int) PARTITION BY LIST (a);
    CREATE TABLE d1d PARTITION OF d1 DEFAULT;
    CREATE TABLE d1a PARTITION OF d1 FOR VALUES IN (1);
    ALTER TABLE d1 DETACH PARTITION d1a CONCURRENTLY; -- 55000
    ALTER TABLE d1 DETACH PARTITION d1d CONCURRENTLY; -- 55000
    ALTER TABLE d1 DETACH PARTITION d1d;
    ALTER TABLE d1 DETACH PARTITION d1a CONCURRENTLY;
    BEGIN;
    ALTER TABLE ts DETACH PARTITION ts1 CONCURRENTLY; -- 25001
    ROLLBACK;
"""


@pytest.mark.parametrize("order", [(0, 10, 20, 30), (30, 20, 10, 0), (20, 0, 30, 10)])
@pytest.mark.parametrize(("start", "end"), [(0, 5), (9, 10), (5, 25), (-5, 1), (39, 50), (-5, 50), (19, 21)])
def test_a_range_that_others_take_in_part_is_refused(order: tuple[int, ...], start: int, end: int) -> None:
    made = "".join(f"CREATE TABLE t{n} PARTITION OF r FOR VALUES FROM ({n}) TO ({n + 10});" for n in order)
    answers = outcomes(
        f"CREATE TABLE r (id int) PARTITION BY RANGE (id); {made}"
        f"CREATE TABLE t PARTITION OF r FOR VALUES FROM ({start}) TO ({end});"
        "CREATE TABLE before PARTITION OF r FOR VALUES FROM (MINVALUE) TO (-5);"
        "CREATE TABLE after PARTITION OF r FOR VALUES FROM (50) TO (MAXVALUE);"
        "CREATE TABLE gap PARTITION OF r FOR VALUES FROM (40) TO (50);"
    )
    assert answers == [None] * 5 + [OVERLAP] + [None] * 3


def test_what_was_detached_is_free_and_what_was_rolled_back_is_as_before() -> None:
    answers = outcomes(
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
    assert answers == [None] * 7 + [OVERLAP, None, None, OVERLAP, None]


@pytest.mark.parametrize("script", [SCRIPT], ids=["values are read and compared"])
class TestScripts(AnnotatedScripts): ...


def moment(text: str) -> str | None:
    read = read_value(Session(Catalog(18)), Column(1, "at", TIMESTAMPTZ), {"sval": {"sval": text}})
    return read[0] if read is not None else None


def test_moments_have_the_order_of_time_whatever_their_zones() -> None:
    texts = (
        "2023-12-31 23:59:59.999999Z",
        "2024-01-01 03:00:00+03",
        "2024-01-01 00:00:00.5+00:00",
        "2023-12-31 20:30-0400",
        "2024-01-01 12:00:00+11:15",
    )
    read = [moment(text) for text in texts]
    assert read == sorted({value for value in read if value is not None})
    assert moment("2024-02-30 00:00:00Z") is None
    assert moment("2024-02-29 00:00:00Z") is None, "not a day of every year"
    assert moment("2024-01-01 10:00:00") is None, "in a time zone that is not known"
    assert moment("2024-01-01") is not None


def test_moments_with_and_without_a_zone_are_not_compared() -> None:
    answers = outcomes(
        """
        CREATE TABLE r (at timestamptz) PARTITION BY RANGE (at);
        CREATE TABLE a PARTITION OF r FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
        CREATE TABLE b PARTITION OF r FOR VALUES FROM ('2024-01-31 23:00:00Z') TO ('2024-03-01 00:00:00Z');
        CREATE TABLE c PARTITION OF r FOR VALUES FROM ('2024-01-31') TO ('2024-02-02');
        """
    )
    assert answers == [None, None, None, OVERLAP]
