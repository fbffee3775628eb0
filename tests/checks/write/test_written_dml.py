"""UPDATE, DELETE and MERGE in the files themselves, refused where they stand and mended by a later statement."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
import pytest

from pubcheck.checks.refused_dml import RefusedDmlCollector
from pubcheck.checks.write.replica_identity import RefusedDml
from pubcheck.diagnostics import Diagnostic
from tests.support.linting import covered, lint
from tests.support.servers import Answer, Servers, execute

TABLES = (
    "CREATE TABLE t (a int, b text)",
    "CREATE TABLE k (id int PRIMARY KEY, b text)",
    "CREATE TABLE u (a int UNIQUE, b text)",
    "CREATE TABLE g (a int, c int GENERATED ALWAYS AS (a + 1) STORED)",
    "CREATE TABLE r (x int, y int, v text) PARTITION BY LIST (x)",
    "CREATE TABLE r2 PARTITION OF r (PRIMARY KEY (x)) FOR VALUES IN (2)",
    "CREATE TABLE r1 PARTITION OF r FOR VALUES IN (1)",
    "CREATE TABLE h (a int, b int)",
    "CREATE TABLE h1 (PRIMARY KEY (a)) INHERITS (h)",
    "CREATE TABLE h2 (CHECK (b > 0)) INHERITS (h1)",
    "CREATE VIEW w AS SELECT * FROM t",
    "CREATE TABLE ruled (a int)",
    "CREATE RULE nothing AS ON UPDATE TO ruled DO INSTEAD NOTHING",
    "CREATE UNLOGGED TABLE quick (a int)",
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE TABLE e (m mood, v text) PARTITION BY LIST (m)",
    "CREATE TABLE e1 PARTITION OF e FOR VALUES IN ('ok')",
    "CREATE TABLE e2 PARTITION OF e FOR VALUES IN ('sad')",
    "CREATE TABLE word (m text, v text) PARTITION BY LIST (m)",
    "CREATE TABLE word1 PARTITION OF word FOR VALUES IN ('us')",
    "CREATE TABLE word2 PARTITION OF word FOR VALUES IN ('zz', 'eu')",
    'CREATE TABLE code (m text COLLATE "C", v text) PARTITION BY LIST (m)',
    "CREATE TABLE code1 PARTITION OF code FOR VALUES IN ('a_b')",
    "CREATE TABLE code2 PARTITION OF code FOR VALUES IN ('B-x', NULL)",
)
PUBLICATION = "CREATE PUBLICATION p FOR ALL TABLES"
MENDED = "DROP PUBLICATION p"

HERE = "PUB138"

CERTAIN = {
    "UPDATE t SET a = 1": "update t",
    "UPDATE t SET a = 1 WHERE false": "update t",
    "UPDATE public.t AS x SET (a, b) = (1, 'x') FROM k WHERE k.id = x.a": "update t",
    "UPDATE /* all */ t SET a = 1": "update t",
    "DELETE FROM ONLY t": "delete t",
    "UPDATE e SET v = 'x'": "update e2",
    "UPDATE word SET v = 'x'": "update word2",
    "DELETE FROM code": "delete code2",
    "DELETE FROM t USING k WHERE k.id = t.a RETURNING *": "delete t",
    "WITH gone AS (DELETE FROM t RETURNING *) INSERT INTO k SELECT a, b FROM gone": "delete t",
    "WITH gone AS (DELETE FROM t) UPDATE t SET a = 2": "delete t",
    "WITH old AS (SELECT 1 AS one) UPDATE t SET a = old.one FROM old": "update t",
    "EXPLAIN UPDATE t SET a = 1": "update t",
    "EXPLAIN (ANALYZE, COSTS OFF) DELETE FROM t": "delete t",
    "INSERT INTO u VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = excluded.b": "update u",
    "INSERT INTO u SELECT 1 WHERE false ON CONFLICT ON CONSTRAINT u_a_key DO UPDATE SET b = 'y'": "update u",
    "MERGE INTO t USING k ON t.a = k.id WHEN MATCHED THEN UPDATE SET a = 1": "update t",
    "MERGE INTO t USING k ON a = id WHEN MATCHED AND false THEN DELETE WHEN MATCHED THEN UPDATE SET a = 1": "delete t",
    "COPY (UPDATE t SET a = 1 RETURNING a) TO STDOUT": "update t",
    "DO $$ BEGIN UPDATE t SET a = 1; END $$": "update t",
    "DO $$ BEGIN EXECUTE 'DELETE FROM t'; END $$": "delete t",
    "DO $$ DECLARE v int := 1; BEGIN UPDATE t SET a = v; END $$": "update t",
    "DO $$ DECLARE one record; BEGIN SELECT 1 AS id INTO one; DELETE FROM t WHERE a = one.id; END $$": "delete t",
    "UPDATE r SET v = 'a'": "update r1",
    "UPDATE r SET v = 'a' WHERE y = 1": "update r1",
    "DELETE FROM r WHERE v LIKE 'x%'": "delete r1",
    "UPDATE r1 SET v = 'a' WHERE x = 2": "update r1",
    "UPDATE h SET b = 1": "update h",
    "UPDATE h1 SET b = 1": "update h2",
    "UPDATE t SET a = '5', b = 5": "update t",
    "UPDATE t SET a = 1.5 WHERE a IN ('1', '2')": "update t",
    "UPDATE t SET (a, b) = (SELECT id, b FROM k LIMIT 1) RETURNING lower(b)": "update t",
    "UPDATE t SET a = a / 0": "update t",
    "UPDATE t SET a = 1 WHERE CURRENT OF nowhere": "update t",
    "DELETE FROM t WHERE a IN (SELECT id FROM k)": "delete t",
    "INSERT INTO u SELECT '1', 5 ON CONFLICT (a) DO UPDATE SET b = excluded.a RETURNING b": "update u",
    "INSERT INTO u (a) VALUES (DEFAULT), ('2') ON CONFLICT (a) DO UPDATE SET b = DEFAULT": "update u",
    "MERGE INTO t USING k ON a = id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES ('1')": "delete t",
}
"""Statement -> the operation and the table that the server names, on every major."""

ACCEPTED = (
    "INSERT INTO t VALUES (1)",
    "INSERT INTO u VALUES (1, 'x') ON CONFLICT (a) DO NOTHING",
    "TRUNCATE t",
    "UPDATE k SET b = 'y'",
    "PREPARE q AS UPDATE t SET a = 1",
    "MERGE INTO t USING k ON t.a = k.id WHEN NOT MATCHED THEN INSERT VALUES (1)",
    "DO $$ BEGIN UPDATE t SET a = 1; EXCEPTION WHEN object_not_in_prerequisite_state THEN NULL; END $$",
    "UPDATE r SET v = 'a' WHERE x = 2",
    "UPDATE r SET v = 'a' WHERE false",
    "UPDATE ONLY r SET v = 'a'",
    "UPDATE ruled SET a = 1",
    "UPDATE quick SET a = 1",
    "UPDATE h1 SET a = 1 WHERE b = -1",
)

REFUSED_FOR_ANOTHER_REASON = (
    "UPDATE t SET nosuch = 1",
    "UPDATE t SET a = 1 WHERE nosuch = 1",
    "UPDATE t SET a = 1 FROM missing",
    "UPDATE g SET c = 1",
    "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 'y'",
    "WITH gone AS (DELETE FROM t) SELECT nosuch FROM k",
    "MERGE INTO t USING k ON t.a = k.id WHEN MATCHED THEN UPDATE SET a = 1 WHEN MATCHED THEN DELETE",
    "DECLARE c CURSOR FOR WITH x AS (UPDATE t SET a = 1 RETURNING a) SELECT * FROM x",
    "DO $$ BEGIN UPDATE t SET nosuch = 1; END $$",
    "UPDATE t SET a = 'x'",
    "UPDATE t SET a = b",
    "UPDATE t SET a = 3000000000",
    "UPDATE t SET a = 1 / 0",
    "UPDATE t SET a = max(a)",
    "UPDATE t SET a = 1, a = 2",
    "UPDATE t SET (a, b) = ('x', 'y')",
    "UPDATE t SET (a, b) = (SELECT b, id FROM k LIMIT 1)",
    "UPDATE t SET a = 1 WHERE a = 'x'",
    "UPDATE t SET a = 1 WHERE b = 5",
    "UPDATE t SET a = 1 WHERE b",
    "UPDATE t SET a = 1 RETURNING lower(a)",
    "WITH new AS (SELECT 'x' AS one) UPDATE t SET a = one FROM new",
    "DELETE FROM t USING k WHERE k.id = t.b",
    "DELETE FROM t WHERE a IN (SELECT b FROM k)",
    "INSERT INTO u VALUES ('x') ON CONFLICT (a) DO UPDATE SET b = 'y'",
    "INSERT INTO u VALUES (1) ON CONFLICT (a) DO UPDATE SET a = excluded.b",
    "INSERT INTO u (a) VALUES (1, 2) ON CONFLICT (a) DO UPDATE SET b = 'y'",
    "INSERT INTO u SELECT b, id FROM k ON CONFLICT (a) DO UPDATE SET b = 'y'",
    "MERGE INTO t USING k ON k.b = t.a WHEN MATCHED THEN DELETE",
    "MERGE INTO t USING k ON a = id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (k.b)",
    "DO $$ BEGIN UPDATE t SET a = 'x'; END $$",
)


def refused_writes(*statements: str, complete: bool = True, major: int = 18) -> list[Diagnostic]:
    """What is said of writes where they stand and are mended later."""
    text = ";\n".join((*TABLES, PUBLICATION, *statements, MENDED))
    return [finding for finding in lint(text, complete=complete, postgres=(major,)) if finding.rule == HERE]


def words(finding: Diagnostic) -> str:
    return f"{finding.operation} {(finding.object or '').rpartition('.')[2]}"


@pytest.mark.parametrize(("statement", "says"), CERTAIN.items())
def test_a_write_that_a_later_statement_allows_is_told_at_the_write(statement: str, says: str) -> None:
    (finding,) = refused_writes(statement)
    assert (words(finding), finding.certainty, finding.severity) == (says, "certain", "error")
    assert finding.statement is not None
    assert finding.statement.index == len(TABLES) + 1
    assert finding.server is not None
    assert finding.server.sqlstate == "55000"


@pytest.mark.parametrize("statement", [*ACCEPTED, *REFUSED_FOR_ANOTHER_REASON])
def test_what_runs_or_fails_for_something_else_is_not(statement: str) -> None:
    assert refused_writes(statement) == []


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_servers_answer_as_these_tables_say(servers: Servers, major: int) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as connection:
        for sql in (*TABLES, PUBLICATION):
            assert execute(connection, sql).ok
        for sql, says in CERTAIN.items():
            answer = execute(connection, sql)
            (finding,) = refused_writes(sql, major=major)
            assert finding.server is not None
            assert parts(answer) == (
                finding.server.sqlstate,
                finding.server.message,
                finding.server.detail,
                finding.server.hint,
            ), sql
            assert words(finding) == says
        for sql in ACCEPTED:
            assert execute(connection, sql).ok, sql
        for sql in REFUSED_FOR_ANOTHER_REASON:
            answer = execute(connection, sql)
            assert not answer.ok
            assert not of_a_write(answer), sql


def parts(answer: Answer) -> tuple[str | None, str | None, str | None, str | None]:
    return answer.sqlstate, answer.message, answer.detail, answer.hint


def of_a_write(answer: Answer) -> bool:
    return (answer.message or "").startswith(("cannot update table", "cannot delete from table"))


@pytest.mark.parametrize("major", [15, 16])
def test_merge_by_source_is_newer_than_these_majors(major: int) -> None:
    merge = "MERGE INTO t USING k ON t.a = k.id WHEN NOT MATCHED BY SOURCE THEN DELETE"
    assert refused_writes(merge, major=major) == []
    assert [words(finding) for finding in refused_writes(merge, major=17)] == ["delete t"]


def test_which_partitions_a_condition_reaches_is_not_known() -> None:
    keyless = "ALTER TABLE r2 DROP CONSTRAINT r2_pkey"
    (finding,) = refused_writes(keyless, "UPDATE r SET v = 'a' WHERE x = 2")
    assert (finding.certainty, finding.object) == ("assumed", "public.r2")
    assert refused_writes("UPDATE r SET v = 'a' WHERE x = 1") == []


def test_execute_is_refused_and_prepare_is_not() -> None:
    (finding,) = refused_writes("PREPARE q AS UPDATE t SET a = 1", "EXECUTE q", "DEALLOCATE q", "EXECUTE q")
    assert covered(finding.span) == "EXECUTE"
    before = "PREPARE early AS DELETE FROM t;\n"
    text = before + ";\n".join((*TABLES[:1], PUBLICATION, "EXPLAIN EXECUTE early", MENDED))
    assert [words(diagnostic) for diagnostic in lint(text) if diagnostic.rule == HERE] == ["delete t"]


def test_a_stretch_of_refused_statements_is_one_finding() -> None:
    (finding,) = refused_writes(*(f"UPDATE t SET a = {number}" for number in range(9)))
    assert finding.message == (
        'UPDATE of t is refused here: publication "p" publishes the table, which has no replica identity; so are 8 more'
    )
    first = len(TABLES) + 1
    after, before = f"run it after line {first + 10}, which fixes this", f"run it before line {first}, which forbids it"
    assert finding.help == f"{after}; or {before}"
    notes = [span.message for span in finding.related]
    assert notes == ["is refused since here", "is allowed again from here on", *["is refused too"] * 5]
    assert [covered(span) for span in finding.related[:3]] == ["p", "DROP", "t"]


def test_the_help_fits_the_cause_and_the_mending() -> None:
    table, update = "CREATE TABLE x (a int);\n", "UPDATE x SET a = 1;\n"
    (finding,) = (
        diagnostic for diagnostic in lint(f"{PUBLICATION};\n{table}{update}DROP TABLE x;") if diagnostic.rule == HERE
    )
    assert finding.help == "run it before line 2, which forbids it"
    key = "ALTER TABLE x ADD PRIMARY KEY (a);"
    (finding,) = (
        diagnostic for diagnostic in lint(f"{PUBLICATION};\n{table}", f"{update}{key}") if diagnostic.rule == HERE
    )
    assert finding.help == (
        "run it after line 2, which fixes this; or give the table a replica identity on line 2 of 1.sql, where it is "
        "created"
    )


def test_what_is_mended_and_broken_again_is_two_findings() -> None:
    full, default = "ALTER TABLE t REPLICA IDENTITY FULL", "ALTER TABLE t REPLICA IDENTITY DEFAULT"
    update = "UPDATE t SET a = 1"
    assert [words(finding) for finding in refused_writes(update, full, update, default, update)] == ["update t"] * 2


def test_what_is_refused_in_the_end_too_is_told_once_and_points_at_the_write() -> None:
    text = f"{TABLES[0]};\n{PUBLICATION};\nUPDATE t SET a = 1;\nUPDATE t SET a = 2;\n"
    update, delete = [finding for finding in lint(text) if finding.phase == "write"]
    assert update.message.startswith("UPDATE of t will fail: ")
    assert covered(update.span) == "p"
    stopped = [(covered(span), span.message) for span in update.related if "refused" in span.message]
    assert stopped == [("t", "is refused already")] * 2
    assert not [span for span in delete.related if "refused" in span.message]


def test_the_fix_goes_before_the_first_statement_that_is_stopped() -> None:
    text = f"{TABLES[0]};\n{PUBLICATION};\n  UPDATE t SET a = 1;\nDELETE FROM t;"
    findings = [diagnostic for diagnostic in lint(text) if diagnostic.phase == "write"]
    assert [diagnostic.operation for diagnostic in findings] == ["update", "delete"]
    for finding in findings:
        (fix,) = finding.fixes
        (edit,) = fix.edits
        mended = text[: edit.span.start] + edit.text + text[edit.span.end :]
        assert mended.splitlines()[2:4] == ["  ALTER TABLE t REPLICA IDENTITY FULL;", "  UPDATE t SET a = 1;"]
        assert [diagnostic for diagnostic in lint(mended) if diagnostic.phase == "write"] == []


def test_the_server_s_words_are_those_of_the_moment() -> None:
    text = """\
    CREATE TABLE t (id int PRIMARY KEY, a int);
    CREATE PUBLICATION p FOR TABLE t WHERE (a > 0);
    UPDATE t SET a = 1;
    ALTER TABLE t REPLICA IDENTITY FULL;
    """
    (finding,) = (diagnostic for diagnostic in lint(text) if diagnostic.rule == HERE)
    assert (finding.phase, finding.certainty) == ("ddl", "certain")
    assert finding.server is not None
    assert (
        finding.server.detail == "Column used in the publication WHERE expression is not part of the replica identity."
    )


def test_a_block_that_is_refused_takes_back_what_it_did() -> None:
    block = "DO $$ BEGIN CREATE PUBLICATION p FOR ALL TABLES; UPDATE t SET a = 1; END $$"
    (finding,) = (
        diagnostic for diagnostic in lint(f"{TABLES[0]};\n{block};\nUPDATE t SET a = 1;") if diagnostic.rule == HERE
    )
    assert (finding.certainty, finding.help) == ("certain", "run it before line 2, which forbids it")


def test_a_block_that_hides_the_refusal_is_told_of_that() -> None:
    block = "DO $$ BEGIN UPDATE t SET a = 1; EXCEPTION WHEN OTHERS THEN NULL; END $$"
    text = ";\n".join((TABLES[0], PUBLICATION, block, MENDED))
    (finding,) = (diagnostic for diagnostic in lint(text) if diagnostic.rule == "PUB135")
    assert "hides it: UPDATE of t is refused here: publication" in finding.message
    assert [diagnostic for diagnostic in lint(text) if diagnostic.rule == HERE] == []


@pytest.mark.parametrize(
    "text",
    [
        "\\if :maybe\nUPDATE t SET a = 1;\n\\endif",
        "UPDATE t SET a = {{ value }};",
        "DO $$ BEGIN IF random() < 0.5 THEN UPDATE t SET a = 1; END IF; END $$;",
        "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'UPDATE t SET a = 1';",
    ],
)
def test_what_perhaps_never_runs_is_not_told(text: str) -> None:
    assert [
        finding for finding in lint(f"{TABLES[0]};\n{PUBLICATION};\n{text}\n{MENDED};") if finding.rule == HERE
    ] == []


def test_what_rests_on_what_is_not_seen_is_assumed() -> None:
    (finding,) = refused_writes("UPDATE t SET a = 1 FROM elsewhere.x WHERE x.id = t.a", complete=False)
    assert finding.certainty == "assumed"
    (finding,) = refused_writes("CREATE ROLE app", "SET ROLE app", "UPDATE t SET a = 1", "RESET ROLE")
    assert finding.certainty == "assumed"


def test_in_a_read_only_transaction_they_are_refused_for_that() -> None:
    assert refused_writes("BEGIN READ ONLY", "UPDATE t SET a = 1", "COMMIT") == []


# Random histories.

HISTORIES, LENGTH = 12, 90
NAMES = ("a", "b", "s.c", "r", "r1", "r2", "r3", "r31", "r32", "h", "h1", "h2", "h3")
OPENING = (
    "CREATE SCHEMA s",
    "CREATE TABLE a (id int PRIMARY KEY, n int, v text)",
    "CREATE TABLE b (id int, n int UNIQUE, v text)",
    "CREATE TABLE s.c (id int, n int, v text)",
    "CREATE TABLE r (id int, n int, v text) PARTITION BY RANGE (id)",
    "CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (10) TO (20)",
    "CREATE TABLE r2 PARTITION OF r (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE r3 PARTITION OF r FOR VALUES FROM (20) TO (30) PARTITION BY LIST (n)",
    "CREATE TABLE r31 PARTITION OF r3 FOR VALUES IN (1, 2)",
    "CREATE TABLE r32 PARTITION OF r3 DEFAULT",
    "CREATE TABLE h (id int, n int, v text)",
    "CREATE TABLE h1 (PRIMARY KEY (id)) INHERITS (h)",
    "CREATE TABLE h2 (CHECK (n > 0)) INHERITS (h)",
    "CREATE TABLE h3 () INHERITS (h1)",
)
CONDITIONS = (
    *("", "", "", " WHERE n = 1", " WHERE id = 5", " WHERE v IS NULL", " WHERE id > 3 AND n = 2", " WHERE false"),
    *(" WHERE n IN (1, 2)", " WHERE v LIKE 'x%'", " WHERE lower(v) = 'a'", " WHERE n IS NULL", " WHERE true"),
    *(" WHERE NOT n = 3", " WHERE id = (SELECT 5)", " WHERE nosuch = 1"),
)
SETS = ("v = 0", "n = 1", "id = id, v = n", "(n, v) = (1, 2)", "v = DEFAULT", "n = (SELECT 1)")
ACTIONS = (
    "WHEN MATCHED AND x.n = 1 THEN DELETE",
    "WHEN MATCHED AND x.n = 2 THEN UPDATE SET v = 1",
    "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (99, 3)",
    "WHEN NOT MATCHED BY SOURCE AND x.n = 9 THEN DELETE",
    "WHEN MATCHED AND false THEN DO NOTHING",
)
CHANGES = (
    "CREATE PUBLICATION {p} FOR TABLE {t}{only}",
    "CREATE PUBLICATION {p} FOR ALL TABLES",
    "CREATE PUBLICATION {p} FOR TABLES IN SCHEMA public",
    "DROP PUBLICATION {p}",
    "ALTER PUBLICATION {p} ADD TABLE {t}",
    "ALTER TABLE {t} REPLICA IDENTITY FULL",
    "ALTER TABLE {t} REPLICA IDENTITY DEFAULT",
    "ALTER TABLE {t} ADD PRIMARY KEY (id)",
    "ALTER TABLE a DROP CONSTRAINT a_pkey",
    "ALTER TABLE r DETACH PARTITION {t}",
    "ALTER TABLE r ATTACH PARTITION r1 FOR VALUES FROM (10) TO (20)",
    "ALTER TABLE {t} ALTER n SET NOT NULL",
    "CREATE RULE also AS ON UPDATE TO {t} DO ALSO NOTHING",
    "CREATE RULE instead AS ON UPDATE TO {t} DO INSTEAD NOTHING",
    "ALTER TABLE {t} ADD CHECK (n < 100)",
    "BEGIN",
    "ROLLBACK",
    "COMMIT",
)
MEMBERS = (" WHERE (n > 0)", " (id, v)", "", " WITH (publish = 'insert, update')")


def plain_write(random: Random) -> str:
    table, only = random.choice(NAMES), random.choice(("", "", "", "ONLY "))
    if random.random() < 0.5:
        return f"UPDATE {only}{table} SET {random.choice(SETS)}{random.choice(CONDITIONS)}"
    return f"DELETE FROM {only}{table}{random.choice(CONDITIONS)}"


def write(random: Random) -> str:
    table, other = random.choice(NAMES), random.choice(NAMES)
    actions = " ".join(random.choice(ACTIONS) for _ in range(random.randint(1, 3)))
    conflict = random.choice(("NOTHING", "UPDATE SET v = 1", "UPDATE SET v = excluded.v"))
    return random.choice(
        (
            plain_write(random),
            plain_write(random),
            f"UPDATE {table} AS x SET n = y.n FROM {other} y WHERE x.id = y.id",
            f"INSERT INTO {table} (id, n) VALUES (1, 1) ON CONFLICT ({random.choice(('id', 'n'))}) DO {conflict}",
            f"MERGE INTO {table} AS x USING {other} y ON x.id = y.id {actions}",
            f"WITH q AS ({plain_write(random)}) {random.choice(('SELECT 1', plain_write(random)))}",
            f"EXPLAIN {plain_write(random)}",
            f"DO $$ BEGIN {plain_write(random)}; END $$",
        )
    )


def history(connection: psycopg.Connection[Any], random: Random) -> Iterator[tuple[str, Answer | None]]:
    """Statements and the answers; what changes the catalog only where it was accepted."""
    for sql in OPENING:
        yield sql, execute(connection, sql)
    for _ in range(LENGTH):
        wrote = random.random() < 0.6
        fields = {"t": random.choice(NAMES), "p": random.choice("pq"), "only": random.choice(MEMBERS)}
        sql = write(random) if wrote else random.choice(CHANGES).format_map(fields)
        answer = execute(connection, sql)
        if wrote or answer.ok:
            yield sql, answer
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
            yield "ROLLBACK", execute(connection, "ROLLBACK")


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_what_is_said_of_random_writes_is_what_the_server_answers(
    servers: Servers, major: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_number: dict[int, Diagnostic] = {}

    def take(_: RefusedDmlCollector, met: RefusedDml) -> None:
        assert met.diagnostic.statement is not None
        by_number[met.diagnostic.statement.index] = met.diagnostic

    monkeypatch.setattr(RefusedDmlCollector, "record", take)
    server = servers[major]
    refused = certain = 0
    for seed in range(HISTORIES):
        with server.database() as name, server.connect(name) as connection:
            told = list(history(connection, Random(seed * 100 + major)))
        by_number.clear()
        lint(";\n".join(sql for sql, _ in told), complete=True, postgres=(major,))
        for number, (sql, answer) in enumerate(told):
            assert answer is not None
            refused += of_a_write(answer)
            finding = by_number.get(number)
            if finding is not None and finding.certainty == "certain":
                certain += 1
                assert finding.server is not None
                expected = (finding.server.sqlstate, finding.server.message, finding.server.detail, finding.server.hint)
                assert parts(answer) == expected, (seed, sql)
    assert certain > refused * 0.5
