"""Statements besides those that change rows: what is followed agrees with servers, and nothing else is passed over."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed
from tests.support.servers import Server, Servers

Outcome = tuple[Any, ...]


def on_server(server: Server, statements: list[str]) -> list[Outcome]:
    """Each statement's rows, or its error."""
    outcomes: list[Outcome] = []
    with (
        server.database() as name,
        psycopg.connect(server.conninfo(name), autocommit=True) as connection,
    ):
        for text in statements:
            try:
                if text.startswith("COPY"):
                    with connection.cursor().copy(text) as copy:
                        list(copy)
                    outcomes.append(())
                    continue
                cursor = connection.execute(text)
                outcomes.append(tuple(cursor.fetchall()) if text.startswith("SELECT *") else ())
            except psycopg.Error as error:
                outcomes.append((error.sqlstate, error.diag.message_primary, error.diag.message_detail))
    return outcomes


def simulated(major: int, statements: list[str]) -> list[Outcome]:
    database = Database(major)
    outcomes: list[Outcome] = []
    for text in statements:
        try:
            result = database.session().run(text)
            outcomes.append(result.rows if text.startswith("SELECT *") else ())
        except ServerError as error:
            outcomes.append((error.sqlstate, error.message, error.detail))
    return outcomes


SCRIPTS = {
    "prepared statements": """
        CREATE TABLE t (id int, v varchar(5)); PREPARE i (int, text) AS INSERT INTO t VALUES ($1, $2);
        EXECUTE i (1, 'a'); EXECUTE i (2 + 1, NULL); EXECUTE i (1); EXECUTE i (4, 'too long'); EXECUTE j;
        PREPARE i AS SELECT 1; PREPARE u (int) AS UPDATE t SET id = id + $1 WHERE id > $1; EXECUTE u ('2');
        PREPARE d (bigint) AS DELETE FROM t WHERE id = $1; EXECUTE d (1); PREPARE w AS SELECT nothing FROM t;
        BEGIN; PREPARE n AS DELETE FROM t; ROLLBACK; DEALLOCATE i; EXECUTE i (1, 'a'); SELECT * FROM t; EXECUTE n;
        SELECT * FROM t; DEALLOCATE ALL; EXECUTE n; DEALLOCATE n""",
    "sequences": """
        CREATE SEQUENCE s; CREATE TABLE t (id int DEFAULT nextval('s'), i int GENERATED ALWAYS AS IDENTITY);
        INSERT INTO t DEFAULT VALUES; ALTER SEQUENCE s RESTART WITH 10; INSERT INTO t DEFAULT VALUES;
        SELECT setval('s', 20); INSERT INTO t DEFAULT VALUES; SELECT setval('s', 30, false);
        INSERT INTO t DEFAULT VALUES; SELECT setval('s', 0); ALTER SEQUENCE s INCREMENT BY 5;
        INSERT INTO t DEFAULT VALUES; BEGIN; ALTER SEQUENCE s RESTART; INSERT INTO t DEFAULT VALUES; ROLLBACK;
        INSERT INTO t DEFAULT VALUES; ALTER TABLE t ALTER i RESTART WITH 100; ALTER SEQUENCE s MAXVALUE 50 RESTART 50;
        INSERT INTO t DEFAULT VALUES; INSERT INTO t DEFAULT VALUES; ALTER SEQUENCE s RESTART 60;
        SELECT * FROM t ORDER BY id""",
    "which triggers fire": """
        CREATE TABLE t (id int, v text); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS
        $$BEGIN NEW.v := NEW.v || TG_NAME; RETURN NEW; END$$; CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW
        EXECUTE FUNCTION f(); CREATE TRIGGER b BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();
        CREATE TRIGGER c BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f(); INSERT INTO t VALUES (1, '');
        ALTER TABLE t DISABLE TRIGGER b; ALTER TABLE t ENABLE ALWAYS TRIGGER c; INSERT INTO t VALUES (2, '');
        ALTER TABLE t ENABLE REPLICA TRIGGER a; INSERT INTO t VALUES (3, ''); BEGIN;
        SET LOCAL session_replication_role = replica; INSERT INTO t VALUES (4, ''); COMMIT;
        INSERT INTO t VALUES (5, ''); SET session_replication_role = local; INSERT INTO t VALUES (6, '');
        SET session_replication_role = 'replica'; INSERT INTO t VALUES (7, ''); RESET ALL; INSERT INTO t VALUES (8, '');
        ALTER TABLE t DISABLE TRIGGER USER; INSERT INTO t VALUES (9, ''); ALTER TABLE t ENABLE TRIGGER ALL;
        INSERT INTO t VALUES (10, ''); SET session_replication_role = nonsense; ALTER TABLE t DISABLE TRIGGER x;
        BEGIN; ALTER TABLE t DISABLE TRIGGER a; ROLLBACK; INSERT INTO t VALUES (11, ''); SELECT * FROM t""",
    "triggers of partitions": """
        CREATE TABLE p (id int, v text) PARTITION BY LIST (id); CREATE TABLE q PARTITION OF p FOR VALUES IN (1);
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.v := NEW.v || TG_NAME; RETURN NEW; END$$;
        CREATE TRIGGER a BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION f();
        INSERT INTO p VALUES (1, 'x'); ALTER TABLE p DISABLE TRIGGER a;
        CREATE TABLE r PARTITION OF p FOR VALUES IN (2); INSERT INTO p VALUES (1, 'y'), (2, 'y');
        ALTER TABLE q ENABLE TRIGGER a; INSERT INTO p VALUES (1, 'z'), (2, 'z'); SELECT * FROM p""",
    "conditions of triggers": """
        CREATE TABLE l (n serial, v text); CREATE TABLE t (a int PRIMARY KEY, b int, c int);
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO l (v) VALUES (TG_OP || TG_NAME ||
        coalesce(TG_ARGV[0], '-') || TG_NARGS); RETURN coalesce(NEW, OLD); END$$; CREATE TRIGGER w AFTER UPDATE ON t
        FOR EACH ROW WHEN (OLD.b IS DISTINCT FROM NEW.b) EXECUTE FUNCTION f('x', 'y');
        CREATE TRIGGER u BEFORE UPDATE OF c ON t FOR EACH ROW EXECUTE FUNCTION f('c');
        CREATE TRIGGER n BEFORE INSERT OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION f(12);
        CREATE TRIGGER d AFTER DELETE ON t FOR EACH ROW WHEN (OLD.a > 10) EXECUTE FUNCTION f();
        CREATE TRIGGER z AFTER UPDATE OF b, c ON t FOR EACH ROW WHEN (NEW.* IS DISTINCT FROM OLD.*)
        EXECUTE FUNCTION f(); INSERT INTO t VALUES (1, 1, 1), (11, 1, 1); UPDATE t SET b = b; UPDATE t SET b = 2
        WHERE a = 1; UPDATE t SET c = c; UPDATE t SET c = 5, b = 5; MERGE INTO t USING (VALUES (11)) v (x) ON a = x
        WHEN MATCHED THEN UPDATE SET b = 77; DELETE FROM t; SELECT * FROM l ORDER BY n""",
    "triggers of statements": """
        CREATE TABLE l (n serial, v text); CREATE TABLE t (a int PRIMARY KEY, b int, c int);
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO l (v) VALUES (TG_OP || TG_NAME ||
        TG_LEVEL || TG_WHEN); RETURN NULL; END$$; CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON t
        EXECUTE FUNCTION f(); CREATE TRIGGER b AFTER INSERT OR UPDATE OR DELETE ON t EXECUTE FUNCTION f();
        CREATE TRIGGER c AFTER UPDATE OF c ON t EXECUTE FUNCTION f(); CREATE TRIGGER d AFTER INSERT ON t FOR EACH ROW
        EXECUTE FUNCTION f(); INSERT INTO t VALUES (1, 1, 1), (2, 2, 2); UPDATE t SET b = 3; UPDATE t SET c = 3;
        DELETE FROM t WHERE a = 99; INSERT INTO t VALUES (1, 5, 5), (7, 7, 7) ON CONFLICT (a) DO UPDATE SET c = 8;
        WITH x AS (DELETE FROM t WHERE a = 7 RETURNING a) INSERT INTO t SELECT a + 10, 0, 0 FROM x;
        UPDATE t SET a = 1; SELECT * FROM l ORDER BY n""",
    "COPY TO": """
        CREATE TABLE t (id int); COPY (INSERT INTO t VALUES (1) RETURNING id) TO STDOUT; COPY t TO STDOUT;
        COPY nowhere TO STDOUT; SELECT * FROM t""",
    "what changes nothing": """
        LISTEN x; NOTIFY x; UNLISTEN *; EXPLAIN INSERT INTO pg_class DEFAULT VALUES; CREATE TABLE t (id int);
        EXPLAIN DELETE FROM t; COMMENT ON TABLE t IS 'x'; SHOW work_mem; SET lock_timeout = 0; CHECKPOINT;
        SET a.b = 'c'; DISCARD PLANS""",
}


def _statements(script: str) -> list[str]:
    parts, inside = [""], False
    for piece in script.split("$$"):
        texts = [piece] if inside else piece.split(";")
        parts[-1] += f"$${texts[0]}$$" if inside else texts[0]
        parts += texts[1:]
        inside = not inside
    return [text.strip() for text in parts if text.strip()]


@pytest.mark.server
@pytest.mark.parametrize("name", SCRIPTS)
def test_statements_do_what_servers_do(servers: Servers, name: str) -> None:
    statements = _statements(SCRIPTS[name])
    for major in servers:
        expected = on_server(servers[major], statements)
        outcomes = simulated(major, statements)
        for text, server, ours in zip(statements, expected, outcomes, strict=True):
            assert (major, text, ours) == (major, text, server)


@pytest.mark.parametrize(
    "statement",
    [
        "CALL f()", "DECLARE c CURSOR FOR SELECT 1", "FETCH c", "MOVE c", "CLOSE c",
        "EXPLAIN ANALYZE SELECT 1", "COPY t TO '/x'", "COPY t FROM PROGRAM 'x'", "COPY t FROM STDIN", "DISCARD ALL",
        "ALTER SYSTEM SET wal_level = logical", "ALTER ROLE CURRENT_USER SET datestyle = 'German'",
        "ALTER DATABASE x SET datestyle = 'German'", "SET default_toast_compression = lz4", "SET enable_seqscan = off",
        "IMPORT FOREIGN SCHEMA a FROM SERVER b INTO c",
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()",
        "ALTER TABLE ALL IN TABLESPACE a SET TABLESPACE b", "PREPARE p AS SELECT $1",
        "SECURITY LABEL ON TABLE t IS 'x'", "REINDEX INDEX t_pkey",
    ],
)  # fmt: skip
def test_other_statements_are_not_followed(statement: str) -> None:
    database = Database(18, "CREATE TABLE t (id int)")
    with pytest.raises(NotFollowed):
        database.session().run(statement)


VIOLATIONS = {
    "keys and checks": """
        CREATE TABLE t (id int, v text); INSERT INTO t VALUES (1, 'a'), (1, 'b'), (NULL, 'c');
        CREATE UNIQUE INDEX i ON t (id); ALTER TABLE t ADD UNIQUE (id); ALTER TABLE t ADD PRIMARY KEY (id);
        ALTER TABLE t ADD CONSTRAINT c CHECK (id > 1); ALTER TABLE t ALTER id SET NOT NULL;
        ALTER TABLE t ADD CONSTRAINT c2 CHECK (id > 1) NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT c2;
        CREATE TABLE p (id int PRIMARY KEY); ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES p;
        ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (id) REFERENCES p NOT VALID; ALTER TABLE t VALIDATE CONSTRAINT f;
        CREATE UNIQUE INDEX ON t (id) WHERE v IN ('a', 'b'); DELETE FROM t WHERE v = 'b';
        CREATE UNIQUE INDEX ON t (id) WHERE v IN ('a', 'b'); ALTER TABLE t ADD PRIMARY KEY (id);
        DELETE FROM t WHERE id IS NULL; ALTER TABLE t ADD PRIMARY KEY (id); INSERT INTO t VALUES (1, 'z');
        ALTER TABLE t DROP CONSTRAINT c2; INSERT INTO p VALUES (1); ALTER TABLE t VALIDATE CONSTRAINT f;
        INSERT INTO t VALUES (1, 'z'); SELECT * FROM t""",
    "equal NULLs": """
        CREATE TABLE t (id int); INSERT INTO t VALUES (NULL), (NULL); CREATE UNIQUE INDEX i ON t (id);
        CREATE UNIQUE INDEX j ON t (id) NULLS NOT DISTINCT; INSERT INTO t VALUES (NULL); SELECT * FROM t""",
    "new columns": """
        CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); ALTER TABLE t ADD b int NOT NULL;
        ALTER TABLE t ADD b int NOT NULL DEFAULT 3; ALTER TABLE t ADD c int DEFAULT 0 CHECK (c > 0);
        ALTER TABLE t ADD d int DEFAULT 0 UNIQUE; ALTER TABLE t ADD e int REFERENCES t (a);
        ALTER TABLE t ADD f int DEFAULT 1 PRIMARY KEY; BEGIN; INSERT INTO t VALUES (2, 2);
        ALTER TABLE t ADD UNIQUE (a); ROLLBACK; ALTER TABLE t ADD UNIQUE (a); SELECT * FROM t""",
    "partitions": """
        CREATE TABLE p (id int NOT NULL, v text) PARTITION BY RANGE (id); CREATE TABLE c (id int NOT NULL, v text);
        INSERT INTO c VALUES (5, 'x'), (50, 'y'); ALTER TABLE p ATTACH PARTITION c FOR VALUES FROM (0) TO (10);
        CREATE TABLE d PARTITION OF p DEFAULT; INSERT INTO p VALUES (15, 'z'); CREATE TABLE e (id int NOT NULL, v text);
        ALTER TABLE p ATTACH PARTITION e FOR VALUES FROM (10) TO (20);
        CREATE TABLE q PARTITION OF p FOR VALUES FROM (10) TO (20);
        ALTER TABLE p ATTACH PARTITION c FOR VALUES FROM (0) TO (60); DELETE FROM c WHERE id = 50;
        CREATE UNIQUE INDEX ON p (id); INSERT INTO c VALUES (5, 'again');
        ALTER TABLE p ATTACH PARTITION c FOR VALUES FROM (0) TO (10); DELETE FROM c WHERE v = 'again';
        ALTER TABLE p ATTACH PARTITION c FOR VALUES FROM (0) TO (10); ALTER TABLE p ADD CONSTRAINT k CHECK (id > 7);
        INSERT INTO p VALUES (5, 'twice'), (6, 'six'); SELECT * FROM p""",
}


@pytest.mark.server
@pytest.mark.parametrize("name", VIOLATIONS)
def test_definitions_that_rows_violate_are_refused(servers: Servers, name: str) -> None:
    statements = _statements(VIOLATIONS[name])
    for major in servers:
        expected = on_server(servers[major], statements)
        outcomes = simulated(major, statements)
        for text, server, ours in zip(statements, expected, outcomes, strict=True):
            assert (major, text, ours) == (major, text, server)


def test_several_rows_of_values_are_evaluated_before_the_defaults_of_their_row() -> None:
    database = Database(18, ["CREATE TABLE t (id serial, v int)", "SELECT nextval('t_id_seq')"])
    session = database.session()
    session.run("INSERT INTO t (v) VALUES (currval('t_id_seq')), (lastval())")
    session.run("INSERT INTO t (v) VALUES (currval('t_id_seq'))")
    session.run("INSERT INTO t (v) SELECT currval('t_id_seq') UNION ALL SELECT lastval()")
    assert session.run("TABLE t").rows == ((2, 1), (3, 2), (4, 4), (5, 4), (6, 5))


def test_copy_reads_the_fields_of_a_line_before_it_misses_one() -> None:
    session = Database(18, ["CREATE TABLE t (a int, b int, s serial)"]).session()
    with pytest.raises(ServerError, match="invalid input syntax for type integer"):
        session.copy("COPY t (a, b) FROM STDIN", "x\n")
    with pytest.raises(ServerError, match='missing data for column "b"'):
        session.copy("COPY t (a, b) FROM STDIN", "1\n")
    session.copy("COPY t (a, b) FROM STDIN", "1\t2\n")
    assert session.run("TABLE t").rows == ((1, 2, 1),)


def test_row_locks_of_a_sub_select_are_logged() -> None:
    setup = ["CREATE TABLE t (id int PRIMARY KEY, v int)", "INSERT INTO t VALUES (1, 1), (2, 2)"]
    database = Database(18, setup)
    session, before = database.session(), len(database.log.records)
    session.run("UPDATE t SET v = 9 WHERE id = (SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)")
    assert [type(record).__name__ for record in database.log.records[before:]] == ["Record", "RowChange", "Commit"]
    session.run("SELECT id FROM t WHERE id = 77 FOR UPDATE")
    assert len(database.log.records) == before + 3


def test_tables_with_row_security_are_not_followed_for_the_roles_that_it_applies_to() -> None:
    setup = [
        "CREATE TABLE t (a int)",
        "ALTER TABLE t ENABLE ROW LEVEL SECURITY",
        "CREATE ROLE reader",
        "CREATE ROLE own",
    ]
    session = Database(18, [*setup, "ALTER TABLE t OWNER TO own"]).session()
    session.run("INSERT INTO t VALUES (1)")
    session.run("SET ROLE own")
    session.run("INSERT INTO t VALUES (2)")
    session.run("ALTER TABLE t FORCE ROW LEVEL SECURITY")
    for role in ("own", "reader"):
        session.run("RESET ROLE")
        session.run(f"SET ROLE {role}")
        for statement in ("SELECT a FROM t", "INSERT INTO t VALUES (3)", "UPDATE t SET a = 4", "DELETE FROM t"):
            with pytest.raises(NotFollowed, match="row-level security"):
                session.run(statement)


def test_row_triggers_have_conditions_columns_and_arguments() -> None:
    outcomes = simulated(18, _statements(SCRIPTS["conditions of triggers"]))
    inserted, deleted = ["INSERTn121"] * 2, ["DELETEn121"] * 2
    updated = ["UPDATEwx2", "UPDATEz-0", *["UPDATEuc1"] * 4, *["UPDATEwx2", "UPDATEz-0"] * 3]
    assert [row[1] for row in outcomes[-1]] == [*inserted, *updated, *deleted, "DELETEd-0"]


def test_triggers_of_a_statement_fire_around_its_rows() -> None:
    outcomes = simulated(18, _statements(SCRIPTS["triggers of statements"]))
    first = ["INSERTaSTATEMENTBEFORE", *["INSERTdROWAFTER"] * 2, "INSERTbSTATEMENTAFTER"]
    second = ["UPDATEaSTATEMENTBEFORE", "UPDATEbSTATEMENTAFTER"]
    third = [*second, "UPDATEcSTATEMENTAFTER"]
    assert [row[1] for row in outcomes[-1]][:9] == [*first, *second, *third]
