"""UPDATE and DELETE of views in the files: refused where the table that a simple view is over is."""

from __future__ import annotations

import pytest
from pglast.parser import split

from tests.support.linting import lint
from tests.support.servers import Servers, execute

TABLES = (
    "CREATE TABLE t (id int, a int, b text, g int GENERATED ALWAYS AS (id + 1) STORED)",
    "CREATE TABLE o (k int PRIMARY KEY, s text)",
    "CREATE TABLE r (x int, y int) PARTITION BY LIST (x)",
    "CREATE TABLE r1 PARTITION OF r FOR VALUES IN (1)",
    "CREATE TABLE r2 PARTITION OF r (PRIMARY KEY (x)) FOR VALUES IN (2)",
    "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE PUBLICATION p FOR TABLE t, r",
)
MENDED = "DROP PUBLICATION p"

CERTAIN = {
    "SELECT * FROM t": ("UPDATE v SET a = 1", "DELETE FROM v", "UPDATE ONLY v SET a = id", "EXPLAIN DELETE FROM v"),
    "SELECT x.id AS k, x.a, b || 'x' AS c FROM t AS x WHERE a > 1": (
        "UPDATE v SET a = 1",
        "UPDATE v SET k = DEFAULT RETURNING c",
        "DELETE FROM v WHERE k = 1",
        "UPDATE v AS w SET a = w.k FROM o WHERE o.k = w.k",
        "WITH gone AS (DELETE FROM v RETURNING a) SELECT * FROM gone",
    ),
    "SELECT a, lower(b) AS l, ctid, t AS whole FROM t WHERE EXISTS (SELECT max(k) FROM o)": ("UPDATE v SET a = 1",),
    "SELECT a + 1 AS z FROM t ORDER BY 1": ("DELETE FROM v",),
    "SELECT a, a AS a2 FROM t": ("UPDATE v SET a2 = 1",),
    "SELECT a FROM t WHERE a > 0 WITH CHECK OPTION": ("UPDATE v SET a = -1",),
    "SELECT * FROM r": ("UPDATE v SET y = 1",),
}
MERGED = {
    "SELECT * FROM t": (
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN UPDATE SET a = o.k",
        "MERGE INTO v USING o ON id=k WHEN MATCHED AND k = 1 THEN UPDATE SET a = 1 WHEN MATCHED THEN UPDATE SET a = 2",
        "MERGE INTO v USING o ON id = k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, a) VALUES (1, 2)",
    ),
    "SELECT id, a, b || 'x' AS c FROM t WHERE a > 3": (
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN DELETE",
        "MERGE INTO v USING o ON v.id = o.k WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = DEFAULT",
    ),
}
"""The same from 17 on."""
MERGED_OTHERWISE = {
    "SELECT * FROM t": (
        "MERGE INTO v USING o ON v.id = o.k WHEN NOT MATCHED THEN INSERT (id) VALUES (k)",
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN DO NOTHING",
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN UPDATE SET g = 1",
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN UPDATE SET nosuch = 1",
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN UPDATE SET a = 'x'",
        "MERGE INTO v USING o ON v.id = o.nosuch WHEN MATCHED THEN DELETE",
    ),
    "SELECT id, a, b || 'x' AS c FROM t": (
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN UPDATE SET c = 'x'",
        "MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1, 2, 'x')",
    ),
    "SELECT id FROM t LIMIT 1": ("MERGE INTO v USING o ON v.id = o.k WHEN MATCHED THEN DELETE",),
    "SELECT k AS id FROM o": ("MERGE INTO v USING t ON v.id = t.id WHEN MATCHED THEN DELETE",),
}
SAID_OTHERWISE = {
    "SELECT * FROM t": (
        "UPDATE v SET g = 1",
        "UPDATE v SET nosuch = 1",
        "UPDATE v SET a = 'x'",
        "INSERT INTO v VALUES (1)",
    ),
    "SELECT id AS k, b || 'x' AS c FROM t": (
        "UPDATE v SET c = 'x'",
        "UPDATE v SET id = 1",
        "DELETE FROM v WHERE id = 1",
    ),
    "SELECT a, a AS a2 FROM t": ("UPDATE v SET a = 1, a2 = 2",),
    "SELECT DISTINCT a FROM t": ("UPDATE v SET a = 1",),
    "SELECT a FROM t GROUP BY a": ("UPDATE v SET a = 1",),
    "SELECT max(a) AS a FROM t": ("DELETE FROM v",),
    "SELECT a, row_number() OVER () FROM t": ("DELETE FROM v",),
    "SELECT a, generate_series(1, 2) FROM t": ("DELETE FROM v",),
    "SELECT a FROM t LIMIT 1": ("DELETE FROM v",),
    "SELECT a FROM t UNION ALL SELECT k FROM o": ("DELETE FROM v",),
    "WITH w AS (SELECT 1) SELECT a FROM t": ("DELETE FROM v",),
    "SELECT t.a FROM t JOIN o ON o.k = t.id": ("DELETE FROM v",),
    "SELECT * FROM (SELECT a FROM t) AS s": ("DELETE FROM v",),
    "SELECT a FROM t TABLESAMPLE system (10)": ("DELETE FROM v",),
    "SELECT k FROM o": ("UPDATE v SET k = 1",),
    "SELECT * FROM r WHERE x = 2": ("DELETE FROM v",),
}
"""Refused for something else, or not at all."""
MORE = {
    "CREATE VIEW w AS SELECT a FROM v; UPDATE w SET a = 1": "t",
    "ALTER VIEW v RENAME COLUMN a TO z; ALTER TABLE t RENAME COLUMN a TO aa; UPDATE v SET z = 1": "t",
    "CREATE OR REPLACE VIEW v AS SELECT id, a, b, g FROM t OFFSET 0; DELETE FROM v": None,
    "CREATE VIEW w AS SELECT * FROM v; CREATE OR REPLACE VIEW v AS SELECT * FROM w; DELETE FROM v": None,
    "CREATE OR REPLACE VIEW v AS SELECT * FROM v; WITH x AS (DELETE FROM v) DELETE FROM t": None,
    "CREATE RULE nothing AS ON UPDATE TO v DO INSTEAD NOTHING; UPDATE v SET a = 1": None,
    "CREATE TRIGGER instead INSTEAD OF UPDATE ON v FOR EACH ROW EXECUTE FUNCTION f(); UPDATE v SET a = 1": None,
    "CREATE RULE nothing AS ON DELETE TO t DO INSTEAD NOTHING; DELETE FROM v": None,
}
"""More about the view v of all of t, and the table that the server names for the last statement."""


def told(script: str, major: int = 18) -> list[tuple[str, str | None]]:
    """(SQLSTATE and message, table) of the writes that are certainly refused and mended later."""
    findings = lint(f"{script};\n{MENDED}", complete=True, postgres=(major,))
    return [
        (f"{finding.server.sqlstate} {finding.server.message}", finding.object)
        for finding in findings
        if finding.rule == "PUB138" and finding.server is not None and finding.certainty == "certain"
    ]


def script(view: str, *statements: str) -> str:
    return ";\n".join((*TABLES, f"CREATE VIEW v AS {view}", *statements))


def cases(major: int = 18) -> list[tuple[str, bool]]:
    """Scripts, and whether their last statement is certainly refused for its publication."""
    scripts = [(script(view, write), major >= 17) for view, writes in MERGED.items() for write in writes]
    scripts += [(script(view, write), False) for view, writes in MERGED_OTHERWISE.items() for write in writes]
    scripts += [(script(view, write), True) for view, writes in CERTAIN.items() for write in writes]
    scripts += [(script(view, write), False) for view, writes in SAID_OTHERWISE.items() for write in writes]
    return scripts + [(script("SELECT * FROM t", more), table is not None) for more, table in MORE.items()]


@pytest.mark.parametrize(("text", "refused"), cases())
def test_a_view_is_written_by_writing_its_table(text: str, refused: bool) -> None:
    assert len(told(text)) == refused


@pytest.mark.parametrize("text", [text for text, _ in cases(16) if "MERGE" in text])
def test_merge_takes_no_view_in_these_majors(text: str) -> None:
    assert told(text, 16) == []


def test_whoever_may_not_write_the_table_is_not_certainly_refused_for_its_publication() -> None:
    roles = "CREATE ROLE joe; GRANT ALL ON SCHEMA public TO joe; SET ROLE joe;"
    text = script("SELECT * FROM t").replace("CREATE VIEW", f"{roles} CREATE VIEW")
    assert told(f"{text}; DELETE FROM v; RESET ROLE") == []


def test_which_partitions_a_view_with_a_condition_reaches_is_not_known() -> None:
    assert told(script("SELECT * FROM r WHERE x = 1", "DELETE FROM v")) == []


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_servers_say_so(servers: Servers, major: int) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as connection:
        for text, refused in cases(major):
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; DROP PUBLICATION IF EXISTS p")
            *before, last = split(text)
            assert all(execute(connection, statement).ok for statement in before)
            answer = execute(connection, last)
            words = (answer.message or "").endswith(("and publishes updates", "and publishes deletes"))
            assert words == refused, text
            assert [refusal for refusal, _ in told(text, major)] == [f"{answer.sqlstate} {answer.message}"] * refused
