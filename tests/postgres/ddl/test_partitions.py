"""Partitions: bounds, keys, ATTACH and DETACH."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.support.linting import lint

SCRIPTS = {
    "bounds": r"""
        CREATE TABLE r (a int, b date) PARTITION BY RANGE (a);
        CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (1) TO (10);
        CREATE TABLE r2 PARTITION OF r FOR VALUES FROM (9) TO (20); -- 42P17
        CREATE TABLE r2 PARTITION OF r FOR VALUES FROM ('10') TO (MAXVALUE);
        CREATE TABLE r3 PARTITION OF r FOR VALUES FROM (5) TO (5); -- 42P17
        CREATE TABLE r3 PARTITION OF r FOR VALUES FROM (-1, 2) TO (0, 2); -- 42P16
        CREATE TABLE r3 PARTITION OF r DEFAULT;
        CREATE TABLE r4 PARTITION OF r DEFAULT; -- 42P17
        CREATE TABLE r4 PARTITION OF r FOR VALUES IN (1); -- 42P16
        CREATE TABLE l (a text) PARTITION BY LIST (a);
        CREATE TABLE l1 PARTITION OF l FOR VALUES IN ('x', NULL);
        CREATE TABLE l2 PARTITION OF l FOR VALUES IN ('y', 'x'); -- 42P17
        CREATE TABLE l2 PARTITION OF l FOR VALUES IN (NULL); -- 42P17
        CREATE TABLE h (a int) PARTITION BY HASH (a);
        CREATE TABLE h1 PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER 0);
        CREATE TABLE h2 PARTITION OF h FOR VALUES WITH (MODULUS 6, REMAINDER 1); -- 42P17
        CREATE TABLE h3 PARTITION OF h FOR VALUES WITH (MODULUS 8, REMAINDER 4); -- 42P17
        CREATE TABLE h4 PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        CREATE TABLE h5 PARTITION OF h DEFAULT; -- 42P16
        CREATE TABLE two (a int, b int) PARTITION BY LIST (a, b); -- 42P17
        ALTER TABLE r DETACH PARTITION r1;
        CREATE TABLE r5 PARTITION OF r FOR VALUES FROM (1) TO (5);
        ALTER TABLE r ATTACH PARTITION r1 FOR VALUES FROM (4) TO (7); -- 42P17
        ALTER TABLE r ATTACH PARTITION r1 FOR VALUES FROM (5) TO (7);
    """,
    "unlogged": r"""
        CREATE UNLOGGED TABLE u (id int) PARTITION BY LIST (id); -- 18: 0A000
        CREATE TABLE u (id int) PARTITION BY LIST (id); -- 15: 42P07, 16: 42P07, 17: 42P07
        CREATE UNLOGGED TABLE u1 PARTITION OF u FOR VALUES IN (1);
        CREATE UNLOGGED TABLE u2 PARTITION OF u FOR VALUES IN (2) PARTITION BY LIST (id); -- 18: 0A000
        CREATE PUBLICATION p FOR TABLE u; -- 15: 22023, 16: 22023, 17: 22023
    """,
    "columns of a partition": r"""
        CREATE TABLE p (a int, b int, c int) PARTITION BY LIST (a);
        CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) PARTITION BY LIST ((b + 1));
        ALTER TABLE p DROP COLUMN b; -- 42P16
        ALTER TABLE p DROP COLUMN a; -- 42P16
        ALTER TABLE ONLY p DROP COLUMN c; -- 42P16
        ALTER TABLE p1 DROP COLUMN c; -- 42P16
        ALTER TABLE p1 ADD COLUMN d int; -- 42809
        ALTER TABLE p1 ADD COLUMN IF NOT EXISTS c int; -- 42809
        ALTER TABLE p DROP COLUMN c;
        ALTER TABLE p1 NO INHERIT p; -- 42809
    """,
    "attach": r"""
        CREATE TABLE p (a int PRIMARY KEY, b int CHECK (b > 0)) PARTITION BY LIST (a);
        CREATE TABLE c (a int NOT NULL, b int PRIMARY KEY);
        ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (1); -- 42804
        ALTER TABLE c ADD CONSTRAINT p_b_check CHECK (b > 0);
        ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (1); -- 42P16
        ALTER TABLE c DROP CONSTRAINT c_pkey;
        ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (1);
        ALTER TABLE p ATTACH PARTITION c FOR VALUES IN (2); -- 42809
        CREATE TABLE d (a int NOT NULL, b int GENERATED ALWAYS AS IDENTITY CONSTRAINT p_b_check CHECK (b > 0));
        ALTER TABLE p ATTACH PARTITION d FOR VALUES IN (3); -- 17: 55000, 18: 55000
        CREATE TABLE e (a bigint NOT NULL, b int);
        ALTER TABLE p ATTACH PARTITION e FOR VALUES IN (4); -- 42804
        CREATE TABLE k PARTITION OF p (PRIMARY KEY (a)) FOR VALUES IN (5); -- 42P16
        ALTER TABLE c ALTER a DROP NOT NULL; -- 42P16
        ALTER TABLE p ALTER b ADD GENERATED ALWAYS AS IDENTITY; -- 55000
    """,
    "indexes that stand for the parent's": r"""
        CREATE TABLE p (a int NOT NULL, b int NOT NULL) PARTITION BY LIST (a);
        CREATE TABLE c PARTITION OF p (UNIQUE (a, b)) FOR VALUES IN (1);
        ALTER TABLE p ADD PRIMARY KEY (a, b) DEFERRABLE;
        DROP INDEX c_pkey; -- 42704
        DROP INDEX c_a_b_key; -- 2BP01
        CREATE TABLE d (a int NOT NULL, b int NOT NULL, UNIQUE (a, b));
        ALTER TABLE p ATTACH PARTITION d FOR VALUES IN (2);
        ALTER TABLE d DROP CONSTRAINT d_a_b_key; -- 15: 42P16, 16: 42P16
        ALTER TABLE d DROP CONSTRAINT d_pkey; -- 15: 42704, 16: 42704, 17: 42P16, 18: 42P16
        CREATE UNIQUE INDEX i ON p (b, a);
        CREATE TABLE e (a int NOT NULL, b int NOT NULL, CONSTRAINT k UNIQUE (b, a), CONSTRAINT l PRIMARY KEY (a, b));
        ALTER TABLE p ATTACH PARTITION e FOR VALUES IN (3);
        ALTER TABLE e DROP CONSTRAINT k; -- 2BP01
        ALTER TABLE e DROP CONSTRAINT l; -- 42P16
        CREATE TABLE f (a int NOT NULL, b int NOT NULL, CONSTRAINT m UNIQUE NULLS NOT DISTINCT (b, a));
        ALTER TABLE p ATTACH PARTITION f FOR VALUES IN (4);
        ALTER TABLE f DROP CONSTRAINT m;
        DROP INDEX f_b_a_idx; -- 2BP01
        ALTER TABLE ONLY p ADD CONSTRAINT n UNIQUE (a);
        DROP INDEX f_a_key; -- 42704
    """,
    "types of columns": r"""
        CREATE TABLE p (a int, b int NOT NULL) PARTITION BY LIST (a);
        CREATE TABLE c PARTITION OF p FOR VALUES IN (1) PARTITION BY LIST (b);
        ALTER TABLE p ALTER a TYPE bigint; -- 42P16
        ALTER TABLE p ALTER b TYPE bigint; -- 42P16
        CREATE TABLE q (a int NOT NULL);
        CREATE TABLE r (PRIMARY KEY (a)) INHERITS (q);
        ALTER TABLE q ALTER a TYPE bigint; -- 18: 55000
        CREATE TABLE s (a int);
        CREATE TABLE t () INHERITS (s);
        CREATE UNIQUE INDEX i ON s (a);
        ALTER TABLE ONLY s ADD PRIMARY KEY USING INDEX i; -- 18: 42P16
    """,
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE x PARTITION OF x FOR VALUES IN (1);",
        "CREATE TABLE a PARTITION OF b FOR VALUES IN (1); CREATE TABLE b PARTITION OF a FOR VALUES IN (1);",
    ],
)
def test_no_table_becomes_its_own_ancestor_where_its_parents_are_not_visible(sql: str) -> None:
    # A name that stands for several placeholders may be that of a table and of its parent.
    findings = lint(f"CREATE PUBLICATION p FOR ALL TABLES; {sql} ALTER TABLE x ADD c int; ALTER TABLE a ADD c int;")
    assert not any(finding.certainty == "certain" for finding in findings)
