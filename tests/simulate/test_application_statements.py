"""What applications write: queues, upserts, deferred constraints, functions for each row. The same statements run on
servers in `corpus/applications` and in the random streams."""

from __future__ import annotations

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import Record, RowChange

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text, n int)"


def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    return list(database.session("reader").run(query).rows)


def refusal(database: Database, statement: str, session: str = "a") -> str:
    with pytest.raises(ServerError) as error:
        database.session(session).run(statement)
    return error.value.sqlstate


def test_rows_that_another_session_has_locked_are_skipped_or_waited_for() -> None:
    database = Database(18, [TABLE, "INSERT INTO t SELECT k FROM generate_series(1, 3) k"])
    first, second = database.session("a"), database.session("b")
    query = "SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
    first.run("BEGIN")
    assert first.run(query).rows == ((1,),)
    assert second.run(query).rows == ((2,),)
    assert refusal(database, "SELECT id FROM t WHERE id = 1 FOR SHARE NOWAIT", "b") == "55P03"
    with pytest.raises(NotFollowed, match="waits for another transaction"):
        second.run("UPDATE t SET v = 'x' WHERE id = 1")
    first.run("ROLLBACK")
    second.run("UPDATE t SET v = 'x' WHERE id = 1")


def test_a_row_that_a_new_row_of_another_session_refers_to_cannot_be_deleted() -> None:
    database = Database(18, [TABLE, "CREATE TABLE c (t int REFERENCES t)", "INSERT INTO t VALUES (1), (2)"])
    database.session("a").run("BEGIN")
    database.session("a").run("INSERT INTO c VALUES (1)")
    database.session("b").run("UPDATE t SET v = 'x' WHERE id = 1")
    with pytest.raises(NotFollowed, match="waits for another transaction"):
        database.session("b").run("DELETE FROM t WHERE id = 1")


def test_a_conflict_target_needs_the_condition_of_a_partial_index() -> None:
    database = Database(
        18, [TABLE, "CREATE UNIQUE INDEX ON t (lower(v)) WHERE n > 0", "INSERT INTO t VALUES (1, 'A', 1)"]
    )
    insert = "INSERT INTO t VALUES (2, 'a', 5) ON CONFLICT "
    database.session().run(insert + "(lower(v)) WHERE n > 0 AND id > 1 DO UPDATE SET n = 9")
    assert rows(database, "SELECT * FROM t") == [(1, "A", 9)]
    assert refusal(database, insert + "(lower(v)) DO NOTHING") == "42P10"
    with pytest.raises(NotFollowed, match="implies the predicate"):
        database.session().run(insert + "(lower(v)) WHERE n > 3 DO NOTHING")


def test_deferrable_keys_are_checked_at_the_end() -> None:
    database = Database(18, "CREATE TABLE d (id int PRIMARY KEY DEFERRABLE INITIALLY IMMEDIATE, v int)")
    session = database.session()
    session.run("INSERT INTO d VALUES (1, 1), (2, 2)")
    session.run("UPDATE d SET id = id + 1")
    session.run("BEGIN")
    session.run("SET CONSTRAINTS ALL DEFERRED")
    session.run("UPDATE d SET id = 7")
    assert refusal(database, "COMMIT") == "23505"
    assert rows(database, "SELECT id FROM d ORDER BY id") == [(2,), (3,)]
    assert refusal(database, "INSERT INTO d VALUES (2) ON CONFLICT DO NOTHING") == "55000"


def test_volatile_targets_are_evaluated_after_the_sort_and_the_limit() -> None:
    database = Database(18, [TABLE, "CREATE SEQUENCE s", "INSERT INTO t VALUES (1), (2), (3)"])
    result = database.session().run("SELECT id, nextval('s') FROM t ORDER BY id DESC LIMIT 2")
    assert result.rows == ((3, 1), (2, 2))
    assert database.session().run("SELECT currval('s')").rows == ((2,),)


def test_a_sequence_needs_a_record_after_33_values() -> None:
    database = Database(18, [TABLE, "CREATE SEQUENCE s"])
    before = len(database.log.records)
    for _ in range(34):
        database.session().run("SELECT nextval('s')")
    records = [record for record in database.log.records[before:] if type(record) is Record]
    assert len(records) == 2


def test_deferred_triggers_write_as_the_transaction_and_not_as_its_savepoint() -> None:
    function = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE t SET n = 1; RETURN NULL; END'"
    trigger = "CREATE CONSTRAINT TRIGGER f AFTER INSERT ON t INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION f()"
    database = Database(18, [TABLE, function, trigger])
    for text in ("BEGIN", "SAVEPOINT s", "INSERT INTO t VALUES (1)", "COMMIT"):
        database.session().run(text)
    first, second = (record for record in database.log.records if isinstance(record, RowChange))
    assert (first.xid == first.top, second.xid == second.top) == (False, True)


def test_a_before_trigger_may_not_change_the_row_itself() -> None:
    function = (
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN UPDATE t SET v = ''x'' WHERE id = OLD.id AND v IS NULL; RETURN NEW; END'"
    )
    trigger = "CREATE TRIGGER f BEFORE UPDATE ON t FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION f()"
    database = Database(18, [TABLE, function, trigger, "INSERT INTO t VALUES (1)"])
    assert refusal(database, "UPDATE t SET n = 1") == "27000"


def test_random_values_are_made_up_from_a_seed() -> None:
    texts = [str(Database(18, seed=7).session().run("SELECT gen_random_uuid()::text").rows) for _ in range(2)]
    assert texts[0] == texts[1]
    with pytest.raises(NotFollowed, match="gen_random_uuid"):
        Database(18).session().run("SELECT gen_random_uuid()")


def test_advisory_locks_exclude_other_sessions() -> None:
    database = Database(18)
    first, second = database.session("a"), database.session("b")
    first.run("BEGIN")
    first.run("SELECT pg_advisory_xact_lock(1)")
    assert second.run("SELECT pg_try_advisory_lock(1)").rows == ((False,),)
    first.run("COMMIT")
    assert second.run("SELECT pg_try_advisory_lock(1)").rows == ((True,),)
