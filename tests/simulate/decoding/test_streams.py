"""Streams of pgoutput and test_decoding. Expected messages are those of servers."""

from __future__ import annotations

from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.slot import Slot
from pubcheck.stream import Decoder


def sent(database: Database, slot: Slot, **options: str) -> str:
    """The messages as their classes' names."""
    rows, _ = slot.read({}, {"proto_version": "3", "publication_names": "p", **options})
    decoder = Decoder()
    return " ".join(type(decoder.decode(data)).__name__ for _, _, data in rows)


PARTITIONS = [
    "CREATE TABLE t (k text) PARTITION BY LIST (k)",
    "CREATE TABLE t_d PARTITION OF t DEFAULT",
    "CREATE TABLE other (k text)",
    "CREATE PUBLICATION p FOR TABLE t",
]


def test_the_default_partition_is_described_again_when_another_one_comes_or_goes() -> None:
    for major in (15, 18):
        database = Database(major, PARTITIONS)
        slot = Slot(database, "pgoutput")
        insert = "INSERT INTO t VALUES ('x')"
        for step in (
            insert,
            "CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a')",
            insert,
            "ALTER TABLE t DETACH PARTITION t_a",
            insert,
            "ALTER TABLE t ATTACH PARTITION other FOR VALUES IN ('o')",
            insert,
            "DROP TABLE other",
            insert,
            insert,
        ):
            database.session().run(step)
        again = "Begin Relation Insert Commit"
        assert sent(database, slot) == " ".join([again] * 5 + ["Begin Insert Commit"])


def test_a_prepared_transaction_without_records_is_not_sent() -> None:
    database = Database(18, PARTITIONS)
    slot = Slot(database, "pgoutput", two_phase=True)
    for end in ("COMMIT", "ROLLBACK"):
        for step in ("BEGIN", "PREPARE TRANSACTION 'g'", f"{end} PREPARED 'g'"):
            database.session().run(step)
    assert sent(database, slot, two_phase="on") == ""


def test_alter_sequence_changes_the_catalog() -> None:
    database = Database(18, "CREATE SEQUENCE s")
    slot = Slot(database, "test_decoding")
    database.session().run("ALTER SEQUENCE s RESTART")
    rows, _ = slot.read({}, {})
    assert [data.split()[0] for _, _, data in rows] == [b"BEGIN", b"COMMIT"]


def test_reindex_describes_the_table_again_and_comment_does_not() -> None:
    database = Database(18, ["CREATE TABLE t (id int PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY)", PARTITIONS[-1]])
    slot = Slot(database, "pgoutput")
    for number, step in enumerate(
        (
            "COMMENT ON TABLE t IS 'x'",
            "ALTER TABLE t ALTER n RESTART WITH 5",
            "REINDEX TABLE t",
        )
    ):
        database.session().run(f"INSERT INTO t VALUES ({number})")
        database.session().run(step)
    database.session().run("INSERT INTO t VALUES (9)")
    first, other = "Begin Relation Insert Commit", "Begin Insert Commit"
    assert sent(database, slot) == " ".join([first, other, other, first])


def test_a_savepoint_that_wrote_nothing_is_rolled_back_with_those_released_into_it() -> None:
    database = Database(18, ["CREATE TABLE t (id int PRIMARY KEY)", "CREATE PUBLICATION p FOR TABLE t"])
    slot = Slot(database, "pgoutput")
    for step in (
        "BEGIN",
        "INSERT INTO t VALUES (1)",
        "SAVEPOINT s",
        "SAVEPOINT s",
        "INSERT INTO t VALUES (2)",
        "RELEASE s",
        "ROLLBACK TO s",
        "COMMIT",
    ):
        database.session().run(step)
    assert sent(database, slot) == "Begin Relation Insert Commit"


def test_the_settings_of_a_dump_are_followed_until_its_session_ends() -> None:
    preamble = "SET row_security = off", "SELECT pg_catalog.set_config('search_path', '', false)"
    database = Database(18, [*preamble, "CREATE TABLE public.t (id int)", "CREATE PUBLICATION p FOR TABLE public.t"])
    slot = Slot(database, "pgoutput")
    database.session().run("BEGIN")
    database.session().run("SELECT set_config('search_path', 'public, pg_temp', false)")
    database.session().run("INSERT INTO t VALUES (1)")
    database.session().run("COMMIT")
    database.session().run("BEGIN")
    database.session().run("INSERT INTO public.t VALUES (2)")
    database.disconnect()
    database.session().run("INSERT INTO t VALUES (3)")
    assert sent(database, slot) == "Begin Relation Insert Commit Begin Insert Commit"
