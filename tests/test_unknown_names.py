"""Nothing certain rests on a name that is unknown: it holds whether or not the name exists.

Each statement of ``FORMS`` names something, x, that the files do not create. What is certain after it in the open world
must be an answer of both closed ones: that in which x was created before, and that in which it does not exist.
"""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source

GROUND = """
CREATE SCHEMA s;
CREATE ROLE r;
CREATE TYPE mood AS ENUM ('a');
CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL, c int);
CREATE UNIQUE INDEX t_b ON t (b);
CREATE TABLE k (a int, b text);
CREATE TABLE parent (a int PRIMARY KEY, b text) PARTITION BY RANGE (a);
CREATE TABLE leaf PARTITION OF parent FOR VALUES FROM (0) TO (10);
CREATE TABLE base (a int PRIMARY KEY);
CREATE TABLE kid (x int) INHERITS (base);
CREATE VIEW v AS SELECT a FROM t;
CREATE SEQUENCE sq;
CREATE PUBLICATION p FOR TABLE t;
"""
_TABLE, _ROLE, _SCHEMA = "CREATE TABLE x (a int PRIMARY KEY, b text);", "CREATE ROLE x SUPERUSER;", "CREATE SCHEMA x;"
_TYPE, _FUNCTION = "CREATE TYPE x AS ENUM ('b');", "CREATE FUNCTION x() RETURNS int LANGUAGE sql AS 'SELECT 1';"
_ROOT = "CREATE TABLE x (a int, b text NOT NULL, c int) PARTITION BY RANGE (a);"
FORMS = (
    ("ALTER TABLE t SET SCHEMA x", _SCHEMA),
    ("ALTER TABLE k SET SCHEMA x", _SCHEMA),
    ("BEGIN; ALTER TABLE k SET SCHEMA x; COMMIT", _SCHEMA),
    ("ALTER VIEW v SET SCHEMA x", _SCHEMA),
    ("ALTER TYPE mood SET SCHEMA x", _SCHEMA),
    ("ALTER SEQUENCE sq SET SCHEMA x", _SCHEMA),
    ("DROP TABLE k, x", _TABLE),
    ("DROP TABLE x, k", _TABLE),
    ("DROP TABLE k, x.y", _SCHEMA + "CREATE TABLE x.y ();"),
    ("DROP TABLE t, x CASCADE", _TABLE),
    ("DROP PUBLICATION p, x", "CREATE PUBLICATION x;"),
    ("DROP SCHEMA s, x", _SCHEMA),
    ("DROP VIEW v, x", "CREATE VIEW x AS SELECT 1;"),
    ("DROP INDEX t_b, x", "CREATE TABLE xx (a int); CREATE INDEX x ON xx (a);"),
    ("DROP SEQUENCE sq, x", "CREATE SEQUENCE x;"),
    ("DROP TYPE mood, x", _TYPE),
    ("DROP ROLE r, x", "CREATE ROLE x;"),
    ("ALTER TABLE t OWNER TO x", _ROLE),
    ("ALTER PUBLICATION p OWNER TO x", _ROLE),
    ("ALTER SCHEMA s OWNER TO x", _ROLE),
    ("REASSIGN OWNED BY x TO r", _ROLE),
    ("ALTER TABLE k INHERIT x", "CREATE TABLE x (a int);"),
    ("ALTER TABLE t INHERIT x, REPLICA IDENTITY NOTHING", "CREATE TABLE x (a int);"),
    ("ALTER TABLE kid NO INHERIT x", "CREATE TABLE x (a int);"),
    ("ALTER TABLE x ATTACH PARTITION t FOR VALUES FROM (100) TO (200)", _ROOT),
    ("ALTER TABLE parent ATTACH PARTITION x FOR VALUES FROM (20) TO (30)", _TABLE),
    ("ALTER TABLE x DETACH PARTITION leaf", _ROOT),
    ("ALTER TABLE t ADD COLUMN n x", _TYPE),
    ("ALTER TABLE t ADD COLUMN n x, REPLICA IDENTITY FULL", _TYPE),
    ("ALTER TABLE t DROP COLUMN c, ADD COLUMN n x", _TYPE),
    ("ALTER TABLE t ALTER c TYPE x USING NULL", _TYPE),
    ("ALTER TABLE k ADD COLUMN n x PRIMARY KEY", "CREATE DOMAIN x AS int;"),
    ("ALTER TABLE k ADD COLUMN n int REFERENCES x, ADD PRIMARY KEY (a)", _TABLE),
    ("ALTER TABLE k ADD FOREIGN KEY (a) REFERENCES x, REPLICA IDENTITY FULL", _TABLE),
    ("ALTER TABLE t ADD CHECK (x() > 0), REPLICA IDENTITY FULL", _FUNCTION),
    ("ALTER TABLE t OF x", "CREATE TYPE x AS (a int, b text, c int);"),
    ("ALTER TABLE t SET ACCESS METHOD x, REPLICA IDENTITY NOTHING", None),
    ("ALTER TABLE x RENAME TO y", _TABLE),
    ("ALTER TABLE x SET SCHEMA s", _TABLE),
    ("ALTER SCHEMA x RENAME TO y", _SCHEMA),
    ("ALTER PUBLICATION x RENAME TO y", "CREATE PUBLICATION x;"),
    ("ALTER PUBLICATION p ADD TABLE k, x", _TABLE),
    ("ALTER PUBLICATION p SET TABLE k, x", _TABLE),
    ("ALTER PUBLICATION p SET TABLE x", _TABLE),
    ("ALTER PUBLICATION p SET TABLE t (a), x", _TABLE),
    ("ALTER PUBLICATION p DROP TABLE t, x", _TABLE),
    ("ALTER PUBLICATION p ADD TABLES IN SCHEMA s, x", _SCHEMA),
    ("CREATE PUBLICATION q FOR TABLE t, x", _TABLE),
)
AFTER = (
    "",
    "CREATE PUBLICATION q2 FOR TABLE t, k",
    "CREATE PUBLICATION q2 FOR TABLE k",
    "CREATE PUBLICATION q2 FOR TABLE t WHERE (c = 1)",
    "CREATE PUBLICATION q2 FOR TABLE t (b)",
    "CREATE PUBLICATION q2 FOR TABLE x.k",
    "CREATE PUBLICATION q2 FOR TABLE y",
    "CREATE PUBLICATION q2 FOR TABLE v",
    "CREATE PUBLICATION q2 FOR TABLES IN SCHEMA s",
    "CREATE PUBLICATION q2 FOR ALL TABLES",
    "CREATE PUBLICATION q2 FOR TABLE kid",
    "CREATE PUBLICATION q2 FOR TABLE t WHERE (c::text::mood = 'a')",
    "ALTER PUBLICATION p ADD TABLE t",
    "ALTER PUBLICATION p DROP TABLE t",
    "ALTER PUBLICATION p ADD TABLE k",
    "DROP PUBLICATION p",
    "CREATE PUBLICATION p",
    "ALTER TABLE t REPLICA IDENTITY USING INDEX t_b",
    "ALTER TABLE k REPLICA IDENTITY USING INDEX k_pkey",
    "SET ROLE r; DROP PUBLICATION p",
    "ALTER PUBLICATION p OWNER TO r",
    "ALTER TABLE k SET UNLOGGED; CREATE PUBLICATION q2 FOR TABLE k",
    "CREATE TABLE k (a int PRIMARY KEY, zz int); CREATE PUBLICATION q2 FOR TABLE k WHERE (zz = 1)",
    "CREATE TABLE t (a int); CREATE PUBLICATION q2 FOR TABLE t",
    "CREATE SCHEMA s; CREATE PUBLICATION q2 FOR TABLES IN SCHEMA s",
    "DROP TABLE k; CREATE PUBLICATION q2 FOR TABLE k",
)


def _certain(before: str, text: str, *, complete: bool) -> set[tuple[object, ...]]:
    """What is certain of the text: the statements that are refused, and the writes of tables that are, and why."""
    unit = Unit((Source("before.sql", before), Source("text.sql", text)))
    findings = Linter(Config(complete=complete)).lint(unit).diagnostics
    return {
        (finding.statement.index if finding.statement is not None else None,)
        if finding.phase == "ddl"
        else (finding.rule, finding.object, finding.operation)
        for finding in findings
        if finding.certainty == "certain" and finding.severity == "error" and finding.span.source.label == "text.sql"
    }


@pytest.mark.parametrize(
    ("form", "creation", "afterwards"),
    # Each with a third of the statements that come after it.
    [(form, creation, AFTER[number % 3 :: 3]) for number, (form, creation) in enumerate(FORMS)],
    ids=[form for form, _ in FORMS],
)
def test_what_is_certain_holds_whether_or_not_an_unknown_name_exists(
    form: str, creation: str | None, afterwards: tuple[str, ...]
) -> None:
    for after in afterwards:
        text = f"{GROUND}{form};\n{after};"
        findings = _certain("", text, complete=False)
        assert findings <= _certain("", text, complete=True), after
        if creation is not None:
            assert findings <= _certain(creation, text, complete=True), after
