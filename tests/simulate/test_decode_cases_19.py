"""The corpus' decode cases of PostgreSQL 19, on a simulated server: its messages are those that 19beta3 sent."""

from __future__ import annotations

import pytest

from pubcheck.simulate import Database, NotFollowed, ServerError
from tests.support.cases import Case, load
from tests.support.pgoutput import describe

CASES = [case for case in load() if case.decode is not None and 19 in case.answers and case.id.startswith("v19-")]


def decoded(case: Case) -> tuple[bool, str | None, tuple[str, ...]]:
    """ok, SQLSTATE and changes, as they are recorded."""
    assert case.decode is not None
    database = Database(19, ";\n".join((*case.setup, case.statement)))
    slot = database.slot("pgoutput")
    session = database.session()
    try:
        for statement in case.decode.sql:
            session.run(statement)
        messages = slot.peek(proto_version="1", publication_names=case.decode.publications)
        return True, None, tuple(describe(data for _, _, data in messages))
    except ServerError as error:
        return False, error.sqlstate, ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_simulated_server_sends_what_19_sent(case: Case) -> None:
    answer = case.answers[19]
    assert decoded(case) == (answer.ok, answer.sqlstate, answer.changes or ())


RANGES = "CREATE TABLE f (id int, v int4range, g int GENERATED ALWAYS AS (id * 2) STORED);"
DELETE = "DELETE FROM m FOR PORTION OF v FROM 3 TO 5"
ROWS = "INSERT INTO f (id, v) VALUES (1, '[1,10)'), (2, '(,5]'), (3, NULL), (4, '[20,30)')"


@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        ("DELETE FROM f FOR PORTION OF v FROM 3 TO 5", "1:[1,3) 1:[5,10) 2:(,3) 2:[5,6) 3: 4:[20,30)"),
        ("DELETE FROM f FOR PORTION OF v FROM NULL TO NULL x WHERE x.id <> 4", "3: 4:[20,30)"),
        (
            "UPDATE f FOR PORTION OF v (int4range(8, 25, '[]')) AS x SET id = x.id + 10",
            "1:[1,8) 11:[8,10) 14:[20,26) 2:(,6) 3: 4:[26,30)",
        ),
        ("UPDATE f FOR PORTION OF v FROM 100 TO 200 SET id = 0", "1:[1,10) 2:(,6) 3: 4:[20,30)"),
        ("UPDATE f FOR PORTION OF v FROM 1 TO 10 SET id = 0 WHERE id = 1", "0:[1,10) 2:(,6) 3: 4:[20,30)"),
    ],
)
def test_the_rest_of_a_range_is_inserted(statement: str, rows: str) -> None:
    """By the definition of the statement in SQL:2011: no part of a range is lost, and none is there twice."""
    session = Database(19, RANGES).session()
    session.run(ROWS)
    session.run(statement)
    values = session.run(
        "SELECT id || ':' || coalesce(v::text, '') FROM f ORDER BY (id::text || v::text) COLLATE \"C\""
    )
    assert sorted(row[0] for row in values.rows) == sorted(rows.split())


@pytest.mark.parametrize(
    ("setup", "statement", "reason"),
    [
        ("CREATE TABLE m (v int4multirange)", DELETE, "not a range"),
        ("CREATE TABLE m (v int4range) PARTITION BY LIST (v)", DELETE, "partitioned"),
        ("CREATE TABLE m (v int4range); CREATE TABLE c () INHERITS (m)", DELETE, "inheritance"),
        ("CREATE TABLE t (a int)", "SELECT first_value(a) IGNORE NULLS OVER (ORDER BY a) FROM t", "window"),
    ],
)
def test_other_statements_are_not_guessed(setup: str, statement: str, reason: str) -> None:
    with pytest.raises(NotFollowed, match=reason):
        Database(19, setup).session().run(statement)


@pytest.mark.parametrize(
    ("clause", "message"),
    [
        ("(a) DO SELECT", "ON CONFLICT DO SELECT requires a RETURNING clause"),
        ("DO SELECT RETURNING a", "ON CONFLICT DO SELECT requires inference specification or constraint name"),
    ],
)
def test_on_conflict_do_select_is_refused(clause: str, message: str) -> None:
    session = Database(19, "CREATE TABLE t (a int PRIMARY KEY)").session()
    with pytest.raises(ServerError, match=message):
        session.run(f"INSERT INTO t VALUES (1) ON CONFLICT {clause}")


def test_on_conflict_do_select_returns_the_row_that_is_there() -> None:
    session = Database(19, "CREATE TABLE t (a int PRIMARY KEY, b text)").session()
    session.run("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    insert = "INSERT INTO t VALUES (1, 'n'), (2, 'n'), (3, 'n') ON CONFLICT (a) DO SELECT FOR SHARE {} RETURNING b"
    assert [row[0] for row in session.run(insert.format("WHERE t.a = 1 AND excluded.b = 'n'")).rows] == ["x", "n"]


def test_clauses_in_a_body_are_not_lost() -> None:
    session = Database(19, RANGES).session()
    session.run(ROWS)
    session.run("DO $$ BEGIN DELETE FROM f FOR PORTION OF v FROM 3 TO 5 WHERE id = 1; END $$")
    assert [row[0] for row in session.run("SELECT count(*) FROM f").rows] == [5]
