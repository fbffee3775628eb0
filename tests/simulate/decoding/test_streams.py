"""Streams of pgoutput and test_decoding. Expected messages are those of servers."""

from __future__ import annotations

import pytest

from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.slot import Slot
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.stream import Decoder, Relation


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


def run(database: Database, *steps: str) -> None:
    for step in steps:
        database.session().run(step)


def decoded(database: Database, slot: Slot) -> list[str]:
    """The lines of test_decoding, without transaction ids."""
    rows, _ = slot.read({}, {"include-xids": "off", "skip-empty-xacts": "on"})
    return [data.decode() for _, _, data in rows]


def test_a_second_truncate_describes_only_a_table_with_an_index_again() -> None:
    for key, again in (("", "Truncate"), (" PRIMARY KEY", "Relation Truncate")):
        database = Database(18, [f"CREATE TABLE t (a int{key})", PARTITIONS[-1]])
        slot = Slot(database, "pgoutput")
        run(database, "BEGIN", "TRUNCATE t", "TRUNCATE t", "SAVEPOINT s", "TRUNCATE t", "COMMIT")
        assert sent(database, slot) == f"Begin Relation Truncate {again} Relation Truncate Commit"


def test_a_publication_of_truncate_alone_describes_all_columns() -> None:
    table = "CREATE TABLE t (a int PRIMARY KEY, b int, c int GENERATED ALWAYS AS (b) STORED)"
    for major, listed in ((15, "a"), (18, "a, b, c")):
        database = Database(major, [table, f"CREATE PUBLICATION p FOR TABLE t ({listed}) WITH (publish = 'truncate')"])
        slot = Slot(database, "pgoutput")
        run(database, "TRUNCATE t")
        [relation] = [row for row in slot.peek(proto_version="1", publication_names="p") if row[2][:1] == b"R"]
        message = Decoder().decode(relation[2])
        assert isinstance(message, Relation)
        assert [column.name for column in message.columns] == ["a", "b"]


def test_two_publications_without_lists_describe_all_columns_of_a_partition() -> None:
    database = Database(
        18,
        [
            "CREATE TABLE t (a int, hole int, b int, c int) PARTITION BY RANGE (a)",
            "ALTER TABLE t DROP COLUMN hole",
            "CREATE TABLE t_0 PARTITION OF t DEFAULT",
            "CREATE PUBLICATION p FOR TABLE t WITH (publish_via_partition_root)",
            "CREATE PUBLICATION q FOR TABLE t WITH (publish_via_partition_root)",
        ],
    )
    slot = Slot(database, "pgoutput")
    run(database, "INSERT INTO t VALUES (1, 2, 3)")
    relations = [row[2] for row in slot.peek(proto_version="1", publication_names="p,q") if row[2][:1] == b"R"]
    messages = [Decoder().decode(data) for data in relations]
    assert [len(message.columns) for message in messages if isinstance(message, Relation)] == [3, 3]


ROLLED_BACK = [
    "CREATE TABLE t (a int)",
    "CREATE TABLE d (v jsonb, w text)",
    "ALTER TABLE d ALTER w SET STORAGE EXTERNAL",
]
END = ["PREPARE TRANSACTION 'g'", "ROLLBACK PREPARED 'g'"]


def test_a_rolled_back_prepared_transaction_is_decoded_until_the_catalog_is_read() -> None:
    database = Database(18, ROLLED_BACK)
    slot = Slot(database, "test_decoding", two_phase=True)
    run(database, "INSERT INTO d VALUES (NULL, 'known')", "BEGIN", """INSERT INTO d VALUES ('[]', 'x')""", *END)
    assert decoded(database, slot)[4:] == [
        "table public.d: INSERT: v[jsonb]:'[]' w[text]:'x'",
        "PREPARE TRANSACTION 'g'",
        "ROLLBACK PREPARED 'g'",
    ]
    slot = Slot(database, "test_decoding", two_phase=True)
    run(database, "INSERT INTO d VALUES ('[]', 'x')", "BEGIN", "INSERT INTO d VALUES (NULL, repeat('x', 3000))", *END)
    assert decoded(database, slot)[3:] == ["ROLLBACK PREPARED 'g'"]


def test_a_row_in_a_new_file_needs_the_catalog() -> None:
    database = Database(18, ROLLED_BACK)
    slot = Slot(database, "test_decoding", two_phase=True)
    steps = ("BEGIN", "SAVEPOINT s", "TRUNCATE t", "RELEASE s", "INSERT INTO t VALUES (1)", *END)
    run(database, *steps)
    assert decoded(database, slot) == [
        "BEGIN",
        "table public.t: TRUNCATE: (no-flags)",
        "PREPARE TRANSACTION 'g'",
        "ROLLBACK PREPARED 'g'",
    ]


def test_a_file_that_the_catalog_no_longer_has_is_not_followed() -> None:
    database = Database(18, ROLLED_BACK)
    slot = Slot(database, "test_decoding", two_phase=True)
    run(database, "BEGIN", "SAVEPOINT s", "TRUNCATE t", "INSERT INTO t VALUES (1)", "RELEASE s", *END)
    with pytest.raises(NotFollowed, match="could not map filenumber"):
        decoded(database, slot)


def test_triggers_rules_and_policies_that_come_change_or_go_describe_their_table_again() -> None:
    function = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
    describing = (
        "CREATE TRIGGER x AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()",
        "ALTER TRIGGER x ON t RENAME TO y",
        "DROP TRIGGER y ON t",
        "CREATE RULE r AS ON DELETE TO t DO ALSO NOTHING",
        "ALTER RULE r ON t RENAME TO q",
        "DROP RULE q ON t",
        "CREATE POLICY o ON t",
        "ALTER POLICY o ON t RENAME TO q",
        "DROP POLICY q ON t",
        "CREATE STATISTICS s ON a, b FROM t",
        "DROP STATISTICS s",
    )
    not_describing = ("CREATE STATISTICS s ON a, b FROM t", "ALTER STATISTICS s RENAME TO u")
    database = Database(18, ["CREATE TABLE t (a int PRIMARY KEY, b int)", PARTITIONS[-1], function])
    slot = Slot(database, "pgoutput")
    for number, step in enumerate((*describing, *not_describing, "ALTER TABLE t CLUSTER ON t_pkey")):
        run(database, step, f"INSERT INTO t VALUES ({number})")
    described, known = "Begin Relation Insert Commit", "Begin Insert Commit"
    assert sent(database, slot) == " ".join([described] * (len(describing) + 1) + [known, known])


def test_a_message_ends_where_the_next_record_begins() -> None:
    """Which comes first if that is one of another subtransaction is decided by the server's heap."""
    setup = ["CREATE TABLE d (a int)", "CREATE TABLE t (a int)"]
    message = "SELECT pg_logical_emit_message(true, 'p', 'm')"
    for before, order in (([], "m t"), (["SAVEPOINT s", "INSERT INTO d VALUES (1)", "RELEASE s"], "d t m")):
        database = Database(18, setup)
        slot = Slot(database, "test_decoding")
        run(database, "BEGIN", *before, message, "SAVEPOINT s", "INSERT INTO t VALUES (2)", "COMMIT")
        lines = decoded(database, slot)[1:-1]
        assert " ".join("m" if line.startswith("message") else line[13] for line in lines) == order


def test_a_partition_is_described_without_the_generated_column_under_a_listed_number_before_18() -> None:
    for major, columns in ((17, ["c"]), (18, ["d", "c"])):
        database = Database(
            major,
            [
                "CREATE TABLE t (a int, b int, c int, d int GENERATED ALWAYS AS (b + 1) STORED) PARTITION BY RANGE (a)",
                "CREATE TABLE t_0 (d int GENERATED ALWAYS AS (b + 1) STORED, c int, a int, b int)",
                "ALTER TABLE t ATTACH PARTITION t_0 DEFAULT",
                "CREATE PUBLICATION p FOR TABLE t (a, b) WITH (publish_via_partition_root)",
            ],
        )
        slot = Slot(database, "pgoutput")
        run(database, "INSERT INTO t VALUES (1, 2, 3)")
        messages = [Decoder().decode(row[2]) for row in slot.peek(proto_version="1", publication_names="p")]
        described = [message for message in messages if isinstance(message, Relation)]
        assert [column.name for column in described[1].columns] == columns


def test_the_first_description_of_a_table_reads_the_catalog() -> None:
    setup = ["CREATE TABLE t (a int PRIMARY KEY)", "CREATE PUBLICATION p FOR TABLE t WHERE (a > 5)"]
    for first, sent_of_prepared in ((1, ""), (6, "Insert ")):
        database = Database(18, setup)
        slot = Slot(database, "pgoutput", two_phase=True)
        run(database, f"INSERT INTO t VALUES ({first})", "BEGIN", "INSERT INTO t VALUES (7)", *END)
        run(database, "INSERT INTO t VALUES (8)")
        described, known = "Begin Relation Insert Commit", "Begin Insert Commit"
        prepared = f"BeginPrepare {sent_of_prepared}Prepare RollbackPrepared"
        expected = (described, prepared, known) if first > 5 else (prepared, described)
        assert sent(database, slot, two_phase="on") == " ".join(expected)
