"""Statements over rows. Expected refusals are those of servers."""

from __future__ import annotations

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import UNCHANGED, Abort, CatalogChange, Commit, RowChange, Truncation


def play(setup: str | list[str], *steps: str, major: int = 17) -> tuple[Database, list[tuple[str, str | None]]]:
    """A database after some steps in one session, and what it refused."""
    database = Database(major, setup)
    database.log.records.clear()
    refused = []
    for step in steps:
        try:
            database.session().run(step)
        except ServerError as error:
            refused.append((error.sqlstate, error.detail))
    return database, refused


def kinds(database: Database) -> list[str]:
    return [type(record).__name__ for record in database.log.records]


TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text DEFAULT 'd')"


def test_a_statement_outside_of_blocks_is_a_transaction() -> None:
    database, _ = play(TABLE, "INSERT INTO t VALUES (1, 'a'), (2, DEFAULT)")
    first, second, commit = database.log.records
    assert isinstance(first, RowChange)
    assert isinstance(second, RowChange)
    assert isinstance(commit, Commit)
    assert first.new is not None
    assert second.new is not None
    assert (first.new.values, first.new.size) == ({1: 1, 2: "a"}, 30)
    assert second.new.values[2] == "d"


def test_only_changed_keys_are_logged() -> None:
    database, _ = play(
        TABLE, "INSERT INTO t VALUES (1)", "UPDATE t SET v = 'x'", "UPDATE t SET id = 5", "DELETE FROM t"
    )
    olds = [record.old and dict(record.old.values) for record in database.log.records if isinstance(record, RowChange)]
    assert olds == [None, None, {1: 1, 2: None}, {1: 5, 2: None}]


def test_a_savepoint_has_an_id_of_its_own_and_its_parent_has_the_lower_one() -> None:
    database, _ = play(TABLE, "BEGIN", "SAVEPOINT s", "INSERT INTO t VALUES (1)", "RELEASE s", "COMMIT")
    _, change, commit = database.log.records  # the first names the parent
    assert isinstance(commit, Commit)
    assert change.xid == change.top + 1 == commit.xid + 1
    assert commit.subtransactions == (change.xid,)


def test_an_error_ends_the_transaction_at_once() -> None:
    steps = ["BEGIN", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)", "SELECT 1", "COMMIT"]
    database, refused = play(TABLE, *steps, "INSERT INTO t VALUES (1)")
    assert refused == [("23505", "Key (id)=(1) already exists."), ("25P02", None)]
    assert kinds(database) == ["RowChange", "RowChange", "Abort", "RowChange", "Commit"]
    abort = database.log.records[2]
    assert isinstance(abort, Abort)
    assert abort.xid == abort.top


def test_rollback_to_a_savepoint_keeps_what_was_before() -> None:
    steps = [
        "BEGIN",
        "INSERT INTO t VALUES (1)",
        "SAVEPOINT s",
        "UPDATE t SET id = 2",
        "ROLLBACK TO s",
        "DELETE FROM t",
    ]
    database, _ = play(TABLE, *steps, "COMMIT")
    deleted = database.log.records[-2]
    assert isinstance(deleted, RowChange)
    assert deleted.old is not None
    assert deleted.old.values[1] == 1


def test_truncate_begins_sequences_again_unless_it_is_rolled_back() -> None:
    insert = "INSERT INTO s (v) VALUES (1)"
    steps = [insert, insert, "BEGIN", "TRUNCATE s RESTART IDENTITY", insert, "ROLLBACK", insert]
    database, _ = play("CREATE TABLE s (id serial PRIMARY KEY, v int)", *steps)
    ids = [r.new.values[1] for r in database.log.records if isinstance(r, RowChange) and r.new is not None]
    assert ids == [1, 2, 1, 3]
    assert [record.relations for record in database.log.records if isinstance(record, Truncation)]


def test_definitions_are_logged_with_the_catalog_before_and_after() -> None:
    database, _ = play(TABLE, "ALTER TABLE t ADD c int")
    change = database.log.records[0]
    assert isinstance(change, CatalogChange)
    oid = database.catalog.relation_names[2200, "t"]
    widths = [len(version.catalog.relations[oid].columns) for version in (change.before, change.after)]
    assert widths == [2, 3]
    assert change.before.number < change.after.number


def test_another_session_does_not_see_uncommitted_definitions() -> None:
    database, _ = play(TABLE, "BEGIN", "ALTER TABLE t ADD c int", "INSERT INTO t VALUES (1, 'x', 2)")
    with pytest.raises(ServerError, match="INSERT has more expressions"):
        database.session("b").run("INSERT INTO t VALUES (2, 'x', 2)")
    database.session("a").run("COMMIT")
    database.session("b").run("INSERT INTO t VALUES (2, 'x', 2)")


def rows(database: Database, query: str) -> list[tuple[object, ...]]:
    return list(database.session("reader").run(query).rows)


def test_triggers_change_rows_and_write_elsewhere() -> None:
    setup = [
        TABLE,
        "CREATE TABLE u (id int, op text)",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.v := NEW.v || ''!''; RETURN NEW; END'",
        "CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN INSERT INTO u VALUES (NEW.id, TG_OP); RETURN NULL; END'",
        "CREATE TRIGGER b BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE TRIGGER a AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION g()",
    ]
    database, refused = play(setup, "INSERT INTO t VALUES (1, 'x')", "UPDATE t SET id = 2")
    assert refused == []
    assert rows(database, "SELECT * FROM t") == [(2, "x!!")]
    assert rows(database, "SELECT * FROM u") == [(1, "INSERT"), (2, "UPDATE")]


def test_blocks_have_subtransactions_for_their_handlers() -> None:
    block = """DO $$DECLARE k int := 0; BEGIN FOR i IN 1..4 LOOP BEGIN INSERT INTO t VALUES (i); k := k + 1;
        IF i % 2 = 0 THEN RAISE EXCEPTION 'no'; END IF; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP;
        INSERT INTO t VALUES (100 + k); END$$"""
    database, _ = play(TABLE, block)
    assert rows(database, "SELECT id FROM t") == [(1,), (3,), (104,)]
    assert kinds(database).count("Abort") == 2


def test_foreign_key_actions_follow_the_statement_that_causes_them() -> None:
    setup = [
        TABLE,
        "CREATE TABLE c (id int PRIMARY KEY, t int REFERENCES t ON DELETE CASCADE ON UPDATE SET NULL)",
        "CREATE TABLE r (t int REFERENCES t)",
    ]
    steps = ["INSERT INTO t VALUES (1), (2), (3)", "INSERT INTO c VALUES (10, 1), (20, 2)", "INSERT INTO r VALUES (3)"]
    database, refused = play(setup, *steps, "DELETE FROM t WHERE id = 1", "UPDATE t SET id = 5 WHERE id = 2")
    assert refused == []
    assert rows(database, "SELECT * FROM c") == [(20, None)]
    _, refused = play(setup, *steps, "DELETE FROM t WHERE id = 3", "INSERT INTO c VALUES (30, 9)")
    assert refused == [
        ("23503", 'Key (id)=(3) is still referenced from table "r".'),
        ("23503", 'Key (t)=(9) is not present in table "t".'),
    ]


def test_a_row_moves_to_another_partition_as_delete_and_insert() -> None:
    setup = [
        "CREATE TABLE p (id int, k int) PARTITION BY RANGE (k)",
        "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)",
        "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)",
        "ALTER TABLE p1 REPLICA IDENTITY FULL",
    ]
    steps = ["INSERT INTO p VALUES (1, 5)", "UPDATE p SET k = 15", "INSERT INTO p VALUES (2, 99)"]
    database, refused = play(setup, *steps)
    operations = [r.operation for r in database.log.records if isinstance(r, RowChange)]
    assert operations == ["insert", "delete", "insert"]
    assert refused == [("23514", "Partition key of the failing row contains (k) = (99).")]


def test_long_values_go_out_of_line_and_stay_there() -> None:
    setup = [TABLE, "ALTER TABLE t ALTER v SET STORAGE EXTERNAL"]
    database, _ = play(setup, "INSERT INTO t VALUES (1, repeat('x', 5000))", "UPDATE t SET id = 2")
    inserted, updated = (r.new for r in database.log.records if isinstance(r, RowChange))
    assert inserted is not None
    assert updated is not None
    assert (inserted.size, inserted.chunks) == (46, (1996, 1996, 1008))
    assert (updated.values[2], updated.chunks) == (UNCHANGED, ())


def test_what_waits_for_another_transaction_is_not_followed() -> None:
    database, _ = play(TABLE, "INSERT INTO t VALUES (1)", "BEGIN", "UPDATE t SET v = 'x'")
    with pytest.raises(NotFollowed, match="waits for another transaction"):
        database.session("b").run("UPDATE t SET v = 'y'")


def test_unknown_values_are_never_guessed() -> None:
    database, _ = play(TABLE)
    with pytest.raises(NotFollowed, match=r"random\(\)"):
        database.session().run("INSERT INTO t SELECT 1 WHERE random() < 0.5")


def test_returning_shows_partitions_by_the_columns_of_their_table() -> None:
    setup = [
        "CREATE TABLE p (id int, k int) PARTITION BY LIST (k)",
        "CREATE TABLE p1 (k int, x text, id int)",
        "ALTER TABLE p1 DROP x",
        "ALTER TABLE p ATTACH PARTITION p1 FOR VALUES IN (7)",
    ]
    database, _ = play(setup)
    assert database.session().run("INSERT INTO p VALUES (1, 7) RETURNING id, k").rows == ((1, 7),)
    assert database.session().run("UPDATE p SET id = 2 RETURNING *").rows == ((2, 7),)


def test_merge_inserts_the_row_that_did_not_match() -> None:
    merge = (
        "MERGE INTO t USING (VALUES (1, 'a'), (8, 'b'), (9, 'c')) s (id, v) ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.v)"
    )
    database, refused = play(TABLE, "INSERT INTO t VALUES (1, 'x')", merge)
    assert refused == []
    assert rows(database, "SELECT * FROM t") == [(1, "a"), (8, "b"), (9, "c")]


def keys_inserted(database: Database) -> list[object]:
    return [r.new.values[1] for r in database.log.records if isinstance(r, RowChange) and r.new is not None]


DEFERRED = ["CREATE TABLE p (id int PRIMARY KEY)", "CREATE TABLE c (id int REFERENCES p DEFERRABLE INITIALLY DEFERRED)"]


@pytest.mark.parametrize("end", ["COMMIT", "PREPARE TRANSACTION 'g'"])
def test_a_commit_that_a_deferred_constraint_refuses_ends_the_transaction(end: str) -> None:
    database, refused = play(DEFERRED, "BEGIN", "INSERT INTO c VALUES (1)", end, "INSERT INTO p VALUES (2)")
    assert refused == [("23503", 'Key (id)=(1) is not present in table "p".')]
    assert kinds(database) == ["RowChange", "Abort", "RowChange", "Commit"]


def test_set_constraints_decides_when_constraints_are_checked() -> None:
    setup = [DEFERRED[0], "CREATE TABLE c (id int REFERENCES p DEFERRABLE)"]
    block = ["BEGIN", "SET CONSTRAINTS ALL DEFERRED", "INSERT INTO c VALUES (1)"]
    _, refused = play(setup, *block, "INSERT INTO p VALUES (1)", "COMMIT")
    assert refused == []
    _, refused = play(setup, *block, "SET CONSTRAINTS ALL IMMEDIATE", "INSERT INTO p VALUES (1)")
    assert [code for code, _ in refused] == ["23503", "25P02"]
    _, refused = play(setup, "BEGIN", "SAVEPOINT s", *block[1:2], "ROLLBACK TO s", *block[2:])
    assert [code for code, _ in refused] == ["23503"]
    _, refused = play(setup, "SET CONSTRAINTS missing DEFERRED")
    assert [code for code, _ in refused] == ["42704"]


def test_cascades_of_deferred_foreign_keys_follow_the_statement() -> None:
    setup = [DEFERRED[0], "CREATE TABLE c (id int PRIMARY KEY REFERENCES p ON DELETE CASCADE INITIALLY DEFERRED)"]
    fill = ["INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (1)"]
    database, _ = play(setup, *fill, "BEGIN", "DELETE FROM p", "INSERT INTO p VALUES (2)", "COMMIT")
    operations = [r.operation for r in database.log.records if isinstance(r, RowChange)]
    assert operations == ["insert", "insert", "delete", "delete", "insert"]


def test_each_row_that_merge_inserts_has_its_own_values() -> None:
    source = "(VALUES (7, 'a'), (8, 'b')) v(k, w)"
    database, _ = play(TABLE, f"MERGE INTO t USING {source} ON false WHEN NOT MATCHED THEN INSERT VALUES (k, w)")
    assert keys_inserted(database) == [7, 8]
    merge = "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id + 1)"
    database, _ = play([TABLE, "CREATE TABLE s (id int)"], "INSERT INTO s VALUES (1), (2)", merge)
    assert keys_inserted(database) == [1, 2, 2, 3]


def test_locks_of_rows_are_logged() -> None:
    upsert = "INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET v = 'x' WHERE false"
    database, _ = play(TABLE, "INSERT INTO t VALUES (1)", "SELECT * FROM t FOR UPDATE", upsert)
    assert kinds(database) == ["RowChange", "Commit", "Record", "Commit", "Record", "Commit"]


def test_only_leaves_out_what_inherits() -> None:
    setup = ["CREATE TABLE p (a int)", "CREATE TABLE c () INHERITS (p)", "CREATE TABLE t (k int) PARTITION BY LIST (k)"]
    fill = ["INSERT INTO p VALUES (1)", "INSERT INTO c VALUES (2)"]
    database, refused = play(setup, *fill, "UPDATE ONLY p SET a = a + 10", "TRUNCATE ONLY t")
    assert [code for code, _ in refused] == ["42809"]
    assert rows(database, "SELECT a FROM p ORDER BY a") == [(2,), (11,)]
    assert rows(database, "SELECT a FROM ONLY p") == [(11,)]
    database, _ = play(setup, *fill, "TRUNCATE ONLY p")
    assert rows(database, "SELECT a FROM p") == [(2,)]
    database, _ = play(setup, *fill, "DELETE FROM ONLY p")
    assert rows(database, "SELECT a FROM p") == [(2,)]


def test_a_row_stays_in_the_partitioned_table_that_the_statement_names() -> None:
    setup = [
        "CREATE TABLE t (k text, n int) PARTITION BY LIST (k)",
        "CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a') PARTITION BY RANGE (n)",
        "CREATE TABLE t_a1 PARTITION OF t_a DEFAULT",
        "CREATE TABLE t_b PARTITION OF t FOR VALUES IN ('b')",
    ]
    insert = "INSERT INTO t VALUES ('a', 1)"
    _, refused = play(setup, insert, "UPDATE t_a SET k = 'b'", "INSERT INTO t_a VALUES ('b', 1)")
    assert [code for code, _ in refused] == ["23514", "23514"]


def test_a_change_of_when_rules_run_is_not_followed() -> None:
    rule = "CREATE RULE r AS ON DELETE TO t DO INSTEAD UPDATE t SET v = 'x' WHERE id = OLD.id"
    for statement in ("ALTER TABLE t DISABLE RULE r", "SET session_replication_role = replica; DELETE FROM t"):
        session = Database(17, [TABLE, rule]).session()
        *before, last = statement.split("; ")
        for text in before:
            session.run(text)
        with pytest.raises(NotFollowed, match="rule"):
            session.run(last)


def test_statements_that_run_others_are_not_followed() -> None:
    procedure = "CREATE PROCEDURE p(k int) LANGUAGE sql AS 'INSERT INTO t VALUES (1)'"
    database = Database(17, [TABLE, procedure])
    for statement in (
        "CALL nothing()",
        "EXPLAIN ANALYZE INSERT INTO t VALUES (3)",
        "DO 'DECLARE c CURSOR FOR SELECT k FROM t; BEGIN OPEN c; UPDATE t SET k = 2 WHERE CURRENT OF c; END'",
        "DO 'DECLARE c CURSOR FOR SELECT random(); BEGIN OPEN c; END'",
    ):
        with pytest.raises(NotFollowed):
            database.session(statement).run(statement)


def test_an_array_whose_elements_are_not_read_is_not_followed() -> None:
    session = Database(17, ["CREATE DOMAIN d AS int CHECK (VALUE > 0)", "CREATE TABLE t (a d[])"]).session()
    with pytest.raises(NotFollowed, match=r"d\[\]"):
        session.run("INSERT INTO t VALUES ('{1}')")
    session.run("INSERT INTO t VALUES (ARRAY[1])")


def test_truncate_waits_for_those_who_changed_rows() -> None:
    """As PostgreSQL 15 to 18 do, which end such a TRUNCATE at statement_timeout (57014)."""
    database = Database(17, [TABLE, "INSERT INTO t VALUES (1), (2)"])
    writer, other = database.session("a"), database.session("b")
    for change in ("INSERT INTO t VALUES (3)", "DELETE FROM t WHERE id = 1"):
        writer.run("BEGIN")
        writer.run(change)
        with pytest.raises(NotFollowed, match="waits for another transaction"):
            other.run("TRUNCATE t")
        writer.run("ROLLBACK")
    other.run("TRUNCATE t")


def test_set_default_is_checked_against_the_new_rows() -> None:
    setup = [DEFERRED[0], "CREATE TABLE c (id int, p int DEFAULT 1 REFERENCES p ON DELETE SET DEFAULT)"]
    steps = ["INSERT INTO p VALUES (1), (2)", "INSERT INTO c VALUES (5, 2)", "DELETE FROM p WHERE id = 2"]
    database, refused = play(setup, *steps)
    assert refused == []
    assert rows(database, "SELECT * FROM c") == [(5, 1)]
    _, refused = play(setup, *steps, "DELETE FROM p WHERE id = 1")
    assert [code for code, _ in refused] == ["23503"]


def test_rows_of_values_have_the_same_length() -> None:
    _, refused = play(TABLE, "INSERT INTO t VALUES (1), (2, DEFAULT)")
    assert [code for code, _ in refused] == ["42601"]


def test_the_order_after_not_exists_is_not_guessed() -> None:
    setup = [TABLE, "CREATE TABLE s (id int)", "INSERT INTO t VALUES (1), (2)", "INSERT INTO s VALUES (3), (4)"]
    condition = "WHERE NOT EXISTS (SELECT FROM s WHERE s.id = t.id)"
    for statement in (f"DELETE FROM t {condition}", f"INSERT INTO s SELECT id FROM t {condition}"):
        with pytest.raises(NotFollowed, match="order"):
            Database(16, setup).session().run(statement)
        Database(15, setup).session().run(statement)
        Database(16, setup).session().run(f"{statement} AND id = 2")


def test_what_cannot_be_followed_ends_with_its_statement() -> None:
    database = Database(18, ["CREATE TABLE t (a int)"])
    session = database.session()
    with pytest.raises(NotFollowed):
        session.run("SELECT relname FROM pg_class")
    session.run("INSERT INTO t VALUES (1)")
    assert session.run("SELECT a FROM t").rows == ((1,),)


def test_rows_fill_the_space_that_earlier_pages_have_left() -> None:
    """A row that outgrows its page goes to the first later page with room. Expected are the servers' ctids."""
    database = Database(17, ["CREATE TABLE t (a int PRIMARY KEY, v int, x text)"])
    session = database.session()
    session.run("INSERT INTO t SELECT k, k % 50, repeat('x', 50) FROM generate_series(1, 1000) k")
    session.run("UPDATE t SET x = 'y' WHERE a > 3 AND v > 3")
    [table] = [oid for oid, row in database.catalog.relations.items() if row.name == "t"]
    storage = database.storage[table]
    places = {version[1]: version.place for version in storage.scan() if not version.xmax}
    expected = {1: (1, 1), 4: (1, 89), 100: (2, 12), 188: (13, 44), 300: (4, 36), 999: (17, 51)}
    assert {key: places[key] for key in expected} == expected


ROUTINES = [
    TABLE,
    "CREATE FUNCTION twice(k int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN k * 2; END $$",
    "CREATE FUNCTION slug(words text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower($1) || length(words) $$",
    "CREATE FUNCTION known() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT count(*) FROM t $$",
    "CREATE FUNCTION add(k int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (k);"
    " RETURN (SELECT count(*) FROM t); END $$",
    "CREATE FUNCTION change(id int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN"
    " UPDATE t SET v = 'x' WHERE id = id; END $$",
    "CREATE PROCEDURE fill(k int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (k); COMMIT;"
    " INSERT INTO t VALUES (k + 1); END $$",
]


def test_functions_are_called_in_expressions_and_by_themselves() -> None:
    steps = [
        "INSERT INTO t VALUES (twice(5), slug('Ab'))",
        "INSERT INTO t SELECT id + 1, known()::text FROM t",
        "SELECT add(1)",
        "DO $$ DECLARE n int; BEGIN n := add(2); PERFORM add(n); END $$",
    ]
    database, refused = play(ROUTINES, *steps)
    assert refused == []
    expected = [(1, "d"), (2, "d"), (4, "d"), (10, "ab2"), (11, "1")]
    assert rows(database, "SELECT id, v FROM t ORDER BY id") == expected


def test_a_procedure_commits_unless_it_is_called_in_a_transaction_block() -> None:
    database, refused = play(ROUTINES, "CALL fill(1)", "BEGIN", "CALL fill(3)", "COMMIT")
    assert refused == [("2D000", None)]
    assert kinds(database) == ["RowChange", "Commit", "RowChange", "Commit", "RowChange", "Abort"]


def test_a_column_with_the_name_of_a_variable_is_ambiguous() -> None:
    detail = "It could refer to either a PL/pgSQL variable or a table column."
    block = "DO $$ DECLARE v text := 'x'; BEGIN INSERT INTO t VALUES (1, v); {} END $$"
    conflict = "INSERT INTO t VALUES (1) ON CONFLICT (v) DO NOTHING;"
    steps = ["SELECT change(1)", block.format("DELETE FROM t WHERE v = v;"), block.format(conflict), block.format("")]
    database, refused = play([*ROUTINES, "CREATE UNIQUE INDEX ON t (v)"], *steps)
    assert refused == [("42702", detail)] * 3
    assert rows(database, "SELECT v FROM t") == [("x",)]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t WHERE add(1) = 1",
        "SELECT add(k.n) FROM (VALUES (1), (2)) k (n) JOIN (VALUES (1), (2)) o (n) USING (n)",
        "DO $$ BEGIN CALL fill(1); END $$",
        "CALL fill(1.5)",
    ],
)
def test_a_function_that_changes_rows_is_not_followed_where_the_order_of_calls_is_unknown(statement: str) -> None:
    with pytest.raises(NotFollowed, match=r"function|procedure|argument"):
        play(ROUTINES, "INSERT INTO t VALUES (77)", statement)


def test_unique_indexes_over_expressions_refuse_duplicates() -> None:
    setup = [
        "CREATE TABLE u (id int PRIMARY KEY, email text, tenant int, deleted bool DEFAULT false)",
        "CREATE UNIQUE INDEX ON u (tenant, lower(email))",
        "CREATE UNIQUE INDEX ON u ((id % 100)) WHERE NOT deleted",
    ]
    insert = "INSERT INTO u VALUES"
    answers = {
        f"{insert} (1, 'A@x', 1)": None,
        f"{insert} (2, 'a@X', 1)": "23505",
        f"{insert} (2, 'a@X', 2)": None,
        f"{insert} (101, 'z', 1)": "23505",
        f"{insert} (101, 'z', 1, true)": None,
        "UPDATE u SET deleted = false": "23505",
        "UPDATE u SET tenant = 2 WHERE deleted AND tenant = 1": None,
        f"{insert} (5, NULL, 1), (6, NULL, 1)": None,
        f"{insert} (7, 'A@X', 1) ON CONFLICT DO NOTHING": None,
        f"{insert} (1, 'q', 9) ON CONFLICT (id) DO UPDATE SET email = 'new'": None,
        f"{insert} (8, 'w', 1) ON CONFLICT (tenant) DO NOTHING": "42P10",
        "CREATE UNIQUE INDEX ON u ((id % 4))": "23505",
    }
    database, refused = play(setup, *answers)
    assert [code for code, _ in refused] == [code for code in answers.values() if code]
    assert rows(database, "SELECT id, email FROM u ORDER BY id") == [
        (1, "new"),
        (2, "a@X"),
        (5, None),
        (6, None),
        (101, "z"),
    ]
