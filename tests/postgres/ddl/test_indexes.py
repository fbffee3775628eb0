"""CREATE INDEX, and indexes of partitioned tables."""

from __future__ import annotations

import pytest

from tests.postgres.ddl.expected import AnnotatedScripts
from tests.support.linting import lint

SCRIPTS = {
    "names and columns": r"""
        CREATE TABLE t (a int, b int, c text);
        CREATE INDEX i ON t (a);
        CREATE INDEX i ON t (b); -- 42P07
        CREATE INDEX IF NOT EXISTS i ON t (b);
        CREATE INDEX IF NOT EXISTS t ON t (b);
        CREATE INDEX IF NOT EXISTS i ON t (lower(nope)); -- 42703
        CREATE INDEX j ON t (a) WHERE nope IS NULL; -- 42703
        CREATE INDEX ON t (lower(c), lower(c));
        ALTER INDEX t_lower_lower1_idx RENAME TO k;
        CREATE UNIQUE INDEX u ON t ((a));
        ALTER TABLE t ALTER a SET NOT NULL;
        ALTER TABLE t REPLICA IDENTITY USING INDEX u;
    """,
    "unique over partitions": r"""
        CREATE TABLE p (a int, b int) PARTITION BY RANGE (a);
        CREATE UNIQUE INDEX ON p (b); -- 0A000
        CREATE UNIQUE INDEX ON p (b, (a));
        CREATE UNIQUE INDEX ON p (b, abs(a)); -- 0A000
        CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (10) PARTITION BY RANGE (b);
        CREATE TABLE q (a int, b int, UNIQUE (a)) PARTITION BY RANGE (a);
        CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (1) TO (10) PARTITION BY RANGE (b); -- 0A000
        CREATE TABLE r (a int, EXCLUDE (a WITH =)) PARTITION BY RANGE (a); -- 15: 0A000, 16: 0A000
        ALTER TABLE q CLUSTER ON q_a_key; -- 0A000
    """,
    "an operator class of the unit's own": r"""
        CREATE FUNCTION e(text, ~, ~) RETURNS ~ LANGUAGE internal AS 'ginarrayextract';
        CREATE FUNCTION q(text, ~, int2, ~, ~, ~, ~) RETURNS ~ LANGUAGE internal AS 'ginqueryarrayextract';
        CREATE FUNCTION c(~, int2, text, int, ~, ~, ~, ~) RETURNS boolean LANGUAGE internal AS 'ginarrayconsistent';
        CREATE OPERATOR CLASS g DEFAULT FOR TYPE text USING gin AS FUNCTION 2 e(text, ~, ~);
        ALTER OPERATOR FAMILY g USING gin ADD FUNCTION 1 (text) bttextcmp(text, text);
        ALTER OPERATOR FAMILY g USING gin ADD FUNCTION 3 (text) q(text, ~, int2, ~, ~, ~, ~);
        ALTER OPERATOR FAMILY g USING gin ADD FUNCTION 4 (text) c(~, int2, text, int, ~, ~, ~, ~);
        CREATE TABLE t (id int PRIMARY KEY, a text, v varchar, n int);
        CREATE INDEX i ON t USING gin (a);
        CREATE INDEX i2 ON t USING gin (v);
        CREATE INDEX i3 ON t USING gin (n); -- 42704
    """.replace("~", "internal"),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
class TestScripts(AnnotatedScripts): ...


def test_of_a_key_whose_type_is_perhaps_there_nothing_is_said() -> None:
    made = "DO $$ BEGIN IF current_setting('a.b', true) = 'c' THEN CREATE TYPE status AS ENUM ('x'); END IF; END $$;"
    table = "CREATE TABLE t (id int PRIMARY KEY, s status); CREATE INDEX ON t (s); CREATE PUBLICATION p FOR TABLE t;"
    assert lint(f"{made} {table}") == []
