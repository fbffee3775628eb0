"""What a script says about a captured stream: PUB857 and PUB858."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate import Database
from pubcheck.simulate.database import Request, run
from pubcheck.simulate.script import Step, steps
from pubcheck.source import Source
from pubcheck.stream import Decoder, Delete, Insert, Update, encode
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Options, StreamFinding, Verifier
from pubcheck.verify.against_script import Simulation, simulate, verify_script

SCHEMA = """
CREATE TABLE orders (id int PRIMARY KEY, region text);
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
"""
SCRIPT = """
INSERT INTO orders VALUES (1, 'eu'), (2, 'us');
BEGIN;
UPDATE orders SET region = 'eu' WHERE id = 2;
INSERT INTO orders VALUES (3, 'eu');
COMMIT;
DELETE FROM orders WHERE id = 1;
"""


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    setup, script = (list(steps(Source("text.sql", text))) for text in (SCHEMA, SCRIPT))
    return simulate(18, setup, script, ("eu",), {})


def findings(simulation: Simulation, rows: list[bytes]) -> list[StreamFinding]:
    frames = [Frame(None, None, data, Place(number, line=number)) for number, data in enumerate(rows, 1)]
    return list(verify_script(Verifier(simulation.publisher, Options()), simulation, frames))


def kinds(rows: list[bytes]) -> list[str]:
    decoder = Decoder()
    return [type(decoder.decode(data)).__name__ for data in rows]


def test_the_stream_that_the_script_makes_conforms(simulation: Simulation) -> None:
    rows = [data for _, _, data in simulation.rows]
    assert [kind for kind in kinds(rows) if kind in ("Insert", "Update", "Delete")] == ["Insert"] * 3 + ["Delete"]
    assert not findings(simulation, rows)


def test_a_missing_change_is_reported_with_its_statement(simulation: Simulation) -> None:
    rows = [data for _, _, data in simulation.rows]
    place = [number for number, kind in enumerate(kinds(rows)) if kind == "Insert"][2]
    [finding] = findings(simulation, rows[:place] + rows[place + 1 :])
    assert finding.rule == "PUB857"
    assert (
        finding.message
        == "is missing: Insert of public.orders (id=3, region=eu), by the statement in line 5 of the script"
    )


def test_a_missing_transaction_is_reported_with_its_changes(simulation: Simulation) -> None:
    rows = [data for _, _, data in simulation.rows]
    begins = [number for number, kind in enumerate(kinds(rows)) if kind == "Begin"]
    about = findings(simulation, rows[: begins[1]] + rows[begins[2] :])
    assert [finding.rule for finding in about] == ["PUB857", "PUB857"]
    assert [finding.message.split(",")[0] for finding in about] == [
        "is missing: Insert of public.orders (id=2",
        "is missing: Insert of public.orders (id=3",
    ]


def test_a_change_in_another_transaction_is_not_said_to_be_of_no_statement() -> None:
    """psql ignores the comments that name sessions: what ran in two of them is one transaction."""
    script = "BEGIN;\nINSERT INTO orders VALUES (1, 'eu');\n-- session: b\nINSERT INTO orders VALUES (2, 'eu');\n"
    script += "-- session: a\nCOMMIT;\n"
    setup, of_two, of_one = (
        list(steps(Source("text.sql", text))) for text in (SCHEMA, script, script.replace("-- session: b\n", ""))
    )
    rows = [data for _, _, data in simulate(18, setup, of_one, ("eu",), {}).rows]
    about = findings(simulate(18, setup, of_two, ("eu",), {}), rows)
    row = "Insert of public.orders (id=1, region=eu)"
    assert [(finding.rule, finding.message) for finding in about] == [
        (
            "PUB858",
            f"is not expected: {row}; the script gives it in another place or transaction, by the statement in line 2"
            " of the script",
        ),
        ("PUB857", f"is missing: {row}, by the statement in line 2 of the script"),
    ]


def _changed(rows: list[bytes], change: Callable[[Insert], Insert | Update | Delete]) -> list[bytes]:
    decoder = Decoder()
    changed = []
    for data in rows:
        message = decoder.decode(data)
        is_it = isinstance(message, Insert) and message.new[0] == "3"
        changed.append(encode(change(message)) if is_it and isinstance(message, Insert) else data)
    return changed


def test_other_values_and_rows_are_reported_with_the_reason(simulation: Simulation) -> None:
    rows = [data for _, _, data in simulation.rows]
    [finding] = findings(simulation, _changed(rows, lambda message: Insert(message.relation, ("4", "eu"))))
    assert finding.rule == "PUB858"
    assert "(id=4, region=eu), but the script gives Insert of public.orders (id=3" in finding.message
    place = [number for number, kind in enumerate(kinds(rows)) if kind == "Insert"][2]
    [doubled] = findings(simulation, [*rows[: place + 1], rows[place], *rows[place + 1 :]])
    assert doubled.rule == "PUB858"
    assert "no statement of the script gives it" in doubled.message
    outside = encode(Insert(Decoder().decode(rows[1]).oid, ("9", "us")))  # type: ignore[union-attr]
    about = findings(simulation, [*rows[: place + 1], outside, *rows[place + 1 :]])
    assert [diagnostic.rule for diagnostic in about] == ["PUB856", "PUB858"]
    assert "does not pass the row filter" in about[1].message


def test_a_script_names_the_sessions_of_its_statements() -> None:
    text = "BEGIN;\n-- session: b\nCOPY t FROM stdin;\n1\ta\n\\.\nSELECT 1;\n-- session: a\nCOMMIT;\n"
    assert list(steps(Source("script.sql", text))) == [
        Step("BEGIN", "a", 1, label="script.sql"),
        Step("COPY t FROM stdin", "b", 3, "1\ta\n", label="script.sql"),
        Step("SELECT 1", "b", 6, label="script.sql"),
        Step("COMMIT", "a", 8, label="script.sql"),
    ]


def test_a_script_ends_at_the_error_that_stops_it() -> None:
    inserts = [f"INSERT INTO orders VALUES ({number}, 'eu');" for number in (1, 2)]
    text = "\n".join(["\\set ON_ERROR_STOP on", inserts[0], "SELECT 1/0;", inserts[1]])
    setup, script = (list(steps(Source("text.sql", text))) for text in (SCHEMA, text))
    stopped = simulate(18, setup, script, ("eu",), {})
    assert kinds([data for _, _, data in stopped.rows]) == ["Begin", "Relation", "Insert", "Commit"]


def test_a_long_script_is_read_in_parts_and_gives_the_same_rows() -> None:
    schema = "CREATE TABLE t (id int PRIMARY KEY, n int); CREATE PUBLICATION p FOR TABLE t;"
    script = "INSERT INTO t SELECT k, 0 FROM generate_series(1, 6000) k;" * 2
    script += "BEGIN; UPDATE t SET n = 1; SAVEPOINT s; DELETE FROM t WHERE id < 5; ROLLBACK TO s; COMMIT; TRUNCATE t;"
    setup, statements = (list(steps(Source("text.sql", text))) for text in (schema, script))
    whole = run(Request(setup, statements, ("p",)), 17)
    assert len(whole.rows) > 12_000  # type: ignore[arg-type]
    assert list(simulate(17, setup, statements, ("p",), {}).rows) == list(whole.rows)


def test_versions_that_nobody_sees_leave_the_indexes() -> None:
    database = Database(17, "CREATE TABLE t (id int PRIMARY KEY, n int UNIQUE); INSERT INTO t VALUES (1, 0);")
    body = "INSERT INTO t VALUES (1, k) ON CONFLICT (id) DO UPDATE SET n = excluded.n"
    for _ in range(3):
        database.session().run(f"DO $$ BEGIN FOR k IN 1..1000 LOOP {body}; END LOOP; END $$")
    (storage,) = database.storage.values()
    assert storage.entries == 3001
    assert len(storage.versions) < 2_100
    with pytest.raises(ServerError, match="t_pkey"):
        database.session().run("INSERT INTO t VALUES (1, -1)")
    with pytest.raises(ServerError, match="t_n_key"):
        database.session().run("INSERT INTO t VALUES (2, 1000)")
