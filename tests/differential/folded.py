"""Scripts in which the server folds constants: in predicates and expressions of indexes, generation expressions,
partition keys and bounds. Row filters are read as they are written.
"""

from __future__ import annotations

_TABLE = "CREATE TABLE t (a int NOT NULL, b int)"
_ALWAYS = (
    "1 = 1", "NOT false", "true OR b > 0", "true AND true", "CASE WHEN true THEN true ELSE b > 0 END",
    "CASE 1 WHEN 2 THEN b > 0 ELSE 1 + 1 = 2 END", "coalesce(NULL, true, b > 0)", "(1 = 1) IS TRUE", "1 IS NOT NULL",
    "true OR now() IS NULL", "now() IS NULL OR true", "true = (b IS NULL OR true)", "lower('X') = 'x'",
    "ROW(1, 2) = ROW(1, 2)", "1 IN (1, 2)", "1 = ANY ('{1,2}')", "NULL IS NULL", "'t'::text::bool", "NULL OR 2 > 1",
    "ROW(1, b) IS NULL IS FALSE", "NOT (ROW(1, b) IS NULL)", "NOT (ROW(NULL, b) IS NOT NULL)",
    "ROW(1, 2) IS DISTINCT FROM NULL",
)  # fmt: skip
"""Predicates that hold for every row once they are folded, and are stored as they are."""
_LITERALS = ("true", "'t'", "true::bool", "'yes'::bool")
"""Predicates that are not stored at all."""
_PARTIAL = (
    "1 = 2", "NULL", "a IS NOT NULL", "a = a", "b > 0 OR NOT b > 0", "(b > 0) = true", "true AND b > 0",
    "false OR b > 0", "NULL OR b > 0", "CASE WHEN b > 0 THEN true ELSE true END", "coalesce(b > 0, true)",
    "ROW(1, 2) IS NOT NULL", "NOT (ROW(1, NULL) IS NULL)", "ROW() IS NULL", "ROW(1) IS NOT NULL",
)  # fmt: skip
_REFUSED = (
    "1 / 0 = 1", "'x'::text::bool OR true", "now() IS NULL", "now() IS NULL AND true", "b", "sum(a) > 1",
    "CASE WHEN b > 0 THEN true ELSE now() IS NULL END",
)  # fmt: skip


def _identity(where: str) -> tuple[str, ...]:
    return (
        _TABLE,
        f"CREATE UNIQUE INDEX u ON t (a) WHERE {where}",
        "CREATE PUBLICATION p FOR TABLE t",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX u",
    )


SCRIPTS: dict[str, tuple[str, ...]] = {
    **{f"predicate {where}": _identity(where) for where in (*_ALWAYS, *_LITERALS, *_PARTIAL, *_REFUSED)},
    "a filter on it": (
        _TABLE,
        "CREATE UNIQUE INDEX u ON t (a) WHERE 1 = 1",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX u",
        "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1)",
    ),
    "primary key of such an index": (
        _TABLE,
        "CREATE UNIQUE INDEX u ON t (a) WHERE NOT false",
        "CREATE PUBLICATION p FOR TABLE t",
        "ALTER TABLE t ADD PRIMARY KEY USING INDEX u",
        "CREATE TABLE r (x int REFERENCES t)",
        "CREATE TABLE r2 (x int REFERENCES t (a))",
        "CREATE TABLE l (LIKE t INCLUDING INDEXES)",
        "CREATE PUBLICATION q FOR TABLE l",
        "ALTER TABLE t CLUSTER ON u",
        "ALTER TABLE l REPLICA IDENTITY USING INDEX l_pkey",
    ),
    "foreign key to such an index": (
        _TABLE,
        "CREATE UNIQUE INDEX u ON t (a) WHERE 1 = 1",
        "CREATE TABLE r (x int REFERENCES t (a))",
        "CREATE UNIQUE INDEX v ON t (a) WHERE true",
        "CREATE TABLE r2 (x int REFERENCES t (a))",
        "CREATE PUBLICATION p FOR TABLE r",
        "CREATE PUBLICATION q FOR TABLE r2",
    ),
    "expressions are kept": (
        "CREATE TABLE t (a int NOT NULL, b int NOT NULL)",
        "CREATE PUBLICATION p FOR TABLE t",
        "CREATE UNIQUE INDEX u1 ON t (a, (1 + 1))",
        "CREATE UNIQUE INDEX u2 ON t ((a + 0))",
        "CREATE UNIQUE INDEX u3 ON t (coalesce(a))",
        "CREATE UNIQUE INDEX u4 ON t ((a::int))",
        "CREATE UNIQUE INDEX u5 ON t (((b)))",
        "CREATE UNIQUE INDEX u6 ON t ((a + 1 / 0))",
        "CREATE UNIQUE INDEX u7 ON t ((CASE WHEN true THEN a ELSE extract(epoch FROM now())::int END))",
        *(f"ALTER TABLE t REPLICA IDENTITY USING INDEX u{number}" for number in range(1, 8)),
    ),
    "parts of partitioned indexes": (
        "CREATE TABLE p (a int NOT NULL, b int) PARTITION BY RANGE (a)",
        "CREATE PUBLICATION pub FOR ALL TABLES",
        "CREATE TABLE p1 (a int NOT NULL, b int)",
        "CREATE UNIQUE INDEX i1 ON p1 (a) WHERE 1 = 1",
        "CREATE INDEX e1 ON p1 ((b + (2 - 1)))",
        "CREATE UNIQUE INDEX pi ON p (a)",
        "CREATE INDEX pe ON p ((p.b + 1))",
        "ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (1) TO (9)",
        "DROP INDEX i1",
        "DROP INDEX e1",
        "CREATE TABLE p2 (b int, a int NOT NULL)",
        "CREATE UNIQUE INDEX i2 ON p2 (a)",
        "CREATE UNIQUE INDEX pj ON p (a) WHERE 2 = 2",
        "ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (11) TO (19)",
        "DROP INDEX i2",
        "DROP INDEX p2_a_idx",
        "CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (21) TO (29)",
        "ALTER TABLE p3 REPLICA IDENTITY USING INDEX p3_a_idx",
        "ALTER TABLE p3 REPLICA IDENTITY USING INDEX p3_a_idx1",
    ),
    "what is there before the partitioned index": (
        "CREATE TABLE p (a int NOT NULL, b int) PARTITION BY RANGE (a)",
        "CREATE PUBLICATION pub FOR ALL TABLES",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (9)",
        "CREATE UNIQUE INDEX i1 ON p1 (a) WHERE 1 = 1",
        "CREATE UNIQUE INDEX i2 ON p1 (a)",
        "CREATE UNIQUE INDEX pi ON p (a) WHERE 2 = 2",
        "CREATE UNIQUE INDEX pk ON p (a)",
        "CREATE UNIQUE INDEX pl ON ONLY p (a) WHERE 3 = 3",
        "ALTER INDEX pl ATTACH PARTITION i2",
        "ALTER INDEX pl ATTACH PARTITION i1",
        "ALTER INDEX pi ATTACH PARTITION i1",
        "CREATE INDEX pe ON ONLY p ((a + (1 + 1)))",
        "CREATE INDEX pe1 ON p1 ((a + 2))",
        "CREATE INDEX pe2 ON p1 ((a + 3))",
        "ALTER INDEX pe ATTACH PARTITION pe2",
        "ALTER INDEX pe ATTACH PARTITION pe1",
        "DROP INDEX pe1",
        "DROP INDEX pe2",
        "DROP INDEX i1",
        "DROP INDEX i2",
    ),
    "filters are read as they are written": (
        "CREATE TABLE t (a int NOT NULL, b int, c int, PRIMARY KEY (a))",
        "CREATE TABLE u (a int NOT NULL, b int, c int, PRIMARY KEY (a))",
        "CREATE PUBLICATION p FOR TABLE t WHERE (false AND b = 1)",
        "CREATE PUBLICATION p2 FOR TABLE t WHERE (true OR now() IS NULL)",
        "CREATE PUBLICATION p3 FOR TABLE t WHERE (1 / 0 = 1)",
        "CREATE PUBLICATION p4 FOR TABLE u WHERE (a = 1 AND coalesce(1, b) = 1)",
    ),
    "checks, generated columns and partition keys": (
        _TABLE,
        "CREATE PUBLICATION pub FOR ALL TABLES",
        "ALTER TABLE t ADD CHECK (now() IS NOT NULL OR true)",
        "ALTER TABLE t ADD CONSTRAINT c1 CHECK (1 / 0 = 1)",
        "ALTER TABLE t ADD CONSTRAINT c1 CHECK (1 / 0 = 1) NOT VALID",
        "CREATE TABLE k (a int, CONSTRAINT c2 CHECK (1 / 0 = 1))",
        "ALTER TABLE t ADD c int GENERATED ALWAYS AS (CASE WHEN true THEN a ELSE extract(epoch FROM now())::int END) "
        "STORED",
        "ALTER TABLE t ADD d int GENERATED ALWAYS AS (1 / 0) STORED",
        "CREATE TABLE g (a int, b int GENERATED ALWAYS AS (1 / 0) STORED)",
        "CREATE TABLE q (a int) PARTITION BY RANGE ((a + 1 / 0))",
        "CREATE TABLE q1 (a int, b text) PARTITION BY RANGE ((1 + 1))",
        "CREATE TABLE q3 (a int, b text) PARTITION BY RANGE "
        "((CASE WHEN true THEN a ELSE extract(epoch FROM now())::int END))",
        "CREATE TABLE q4 (a int, b text) PARTITION BY RANGE ((CASE WHEN true THEN 1 ELSE a END))",
    ),
    "bounds": (
        "CREATE PUBLICATION pub FOR ALL TABLES",
        "CREATE TABLE q (a int, b text) PARTITION BY RANGE (a)",
        "CREATE TABLE qa PARTITION OF q FOR VALUES FROM (1 + 1) TO (2 * 5)",
        "CREATE TABLE qb PARTITION OF q FOR VALUES FROM (9) TO (12)",
        "CREATE TABLE qc PARTITION OF q FOR VALUES FROM (10) TO (1 / 0)",
        "CREATE TABLE qd PARTITION OF q FOR VALUES FROM (10) TO (length('twelvechars!'))",
        "CREATE TABLE qe PARTITION OF q FOR VALUES FROM (11) TO (20)",
        "CREATE TABLE qf PARTITION OF q FOR VALUES FROM (now()) TO (20)",
        "CREATE TABLE qg PARTITION OF q FOR VALUES FROM (NULL) TO (20)",
        "CREATE TABLE qh PARTITION OF q FOR VALUES FROM (NULL::int + 1) TO (20)",
        "CREATE TABLE qi PARTITION OF q FOR VALUES FROM ('30') TO ('4' || '0')",
        "CREATE TABLE qj PARTITION OF q FOR VALUES FROM (-5) TO (-(1))",
        "CREATE TABLE qk PARTITION OF q FOR VALUES FROM (extract(year FROM date '2020-01-01')::int) TO (2.5 * 1000)",
        "CREATE TABLE ql PARTITION OF q FOR VALUES FROM (2100) TO (2400)",
        "CREATE TABLE l (a text, b int) PARTITION BY LIST (a)",
        "CREATE TABLE la PARTITION OF l FOR VALUES IN (lower('X'), 'y' || 'z')",
        "CREATE TABLE lb PARTITION OF l FOR VALUES IN ('x')",
        "CREATE TABLE lc PARTITION OF l FOR VALUES IN ('yz')",
        "CREATE TABLE ld PARTITION OF l FOR VALUES IN (NULL || 'x')",
        "CREATE TABLE le PARTITION OF l FOR VALUES IN (NULL)",
        "CREATE TABLE n (a numeric(6, 2), b int) PARTITION BY LIST (a)",
        "CREATE TABLE na PARTITION OF n FOR VALUES IN (1.0 + 0.5)",
        "CREATE TABLE nb PARTITION OF n FOR VALUES IN (1.5)",
        "CREATE TABLE nc PARTITION OF n FOR VALUES IN (7 / 2)",
        "CREATE TABLE nd PARTITION OF n FOR VALUES IN (3)",
        "CREATE TABLE o (a bool, b int) PARTITION BY LIST (a)",
        "CREATE TABLE oa PARTITION OF o FOR VALUES IN (NOT false)",
        "CREATE TABLE ob PARTITION OF o FOR VALUES IN ('yes')",
    ),
}
