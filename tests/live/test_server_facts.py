"""The facts of a server: what each major says about slots, their readers, subscriptions and statistics."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from pubcheck.live.connect import connect
from pubcheck.live.document import _COLUMNS, read_facts, requested_publications
from pubcheck.live.server_facts import Reader, ServerFacts, SubscriptionTable
from tests.support.servers import PACKAGES, Server, Servers, prepare


@pytest.mark.parametrize(
    ("query", "publications"),
    [
        (
            "START_REPLICATION SLOT \"a\" LOGICAL 0/0 (proto_version '4',"
            """ publication_names '"eu","Q x","a""b","it''s"')""",
            ("eu", "Q x", 'a"b', "it's"),
        ),
        ("start_replication slot a logical 0/0 (publication_names 'EU, us', proto_version '1')", ("eu", "us")),
        ("""START_REPLICATION SLOT a LOGICAL 0/0 ("proto_version" '1',"publication_names" 'EU,PÜ')""", ("eu", "pÜ")),
        ("""START_REPLICATION SLOT "a" LOGICAL 0/0 (proto_version '4', publication_names '"eu","cut o""", None),
        ("START_REPLICATION SLOT a LOGICAL 0/0 (\"include-xids\" '1')", None),
        ("<insufficient privilege>", None),
        ("", None),
    ],
)
def test_a_walsender_shows_the_publications_that_it_was_asked_for(
    query: str, publications: tuple[str, ...] | None
) -> None:
    assert requested_publications(query) == publications


@pytest.fixture(params=PACKAGES)
def server(request: pytest.FixtureRequest, servers: Servers) -> Server:
    return servers[request.param]


def facts_of(conninfo: str) -> ServerFacts:
    with connect(conninfo) as connection:
        before = connection.round_trips
        facts = read_facts(connection)
        assert connection.round_trips == before + 1
        return facts


SETUP = (
    "CREATE TABLE t (id int PRIMARY KEY, region text, tags text[])",
    "INSERT INTO t SELECT i, CASE WHEN i % 10 = 0 THEN 'us' ELSE 'eu' END FROM generate_series(1, 1000) i",
    "CREATE TABLE f (a int, b text)",
    "ALTER TABLE f REPLICA IDENTITY FULL",
    "INSERT INTO f SELECT i, 'x' FROM generate_series(1, 500) i",
    "UPDATE f SET a = a + 1",
    "DELETE FROM f WHERE a <= 101",
    "SELECT pg_stat_force_next_flush()",
    "ANALYZE",
    "CREATE PUBLICATION p FOR TABLE t WHERE (region = 'eu' AND tags IS NULL), f",
    "SELECT pg_create_logical_replication_slot('facts_slot', 'pgoutput')",
    "CREATE TABLE z (id int PRIMARY KEY)",
    "CREATE PUBLICATION younger FOR TABLE z",
    "ALTER PUBLICATION p SET (publish = 'insert, update')",
)
CLEANUP = "SELECT pg_drop_replication_slot('facts_slot')"


@pytest.mark.server
def test_the_facts_of_a_database(server: Server) -> None:
    with server.database() as name, server.connect(name) as conn:
        prepare(conn, SETUP)
        conninfo = server.conninfo(name)
        facts = facts_of(conninfo)
        assert facts.settings.wal_level == "logical"
        assert facts.settings.max_slot_wal_keep_size is None
        assert facts.settings.max_replication_slots == 20
        assert facts.usage.slots >= 1
        [slot] = facts.slots
        assert (slot.name, slot.plugin, slot.active, slot.wal_status) == ("facts_slot", "pgoutput", False, "reserved")
        assert slot.reader is None
        assert slot.held
        assert (slot.inactive_since is not None) == (server.major >= 17)
        # An ALTER PUBLICATION does not make it younger: its members show that it existed before.
        assert slot.catalog_age is not None
        assert facts.publication_ages["p"] > slot.catalog_age >= facts.publication_ages["younger"]
        [table] = facts.tables
        assert (table.table, table.rows, table.updates, table.deletes) == ("public.f", 400, 500, 100)
        assert table.size % 8192 == 0
        assert table.size > 0
        [column] = facts.columns
        assert (column.table, column.column, column.values) == ("public.t", "region", ("eu", "us"))
        assert column.frequencies == pytest.approx((0.9, 0.1))
        prepare(conn, [CLEANUP])


@pytest.mark.server
def test_a_slot_shows_what_its_reader_asks_for_to_those_who_may_see_it(server: Server) -> None:
    with server.database() as name, server.connect(name) as conn:
        prepare(conn, SETUP)
        conninfo = server.conninfo(name)
        with closing(psycopg.connect(f"{conninfo} replication=database", autocommit=True)) as walsender:
            walsender.pgconn.send_query(
                b"START_REPLICATION SLOT facts_slot LOGICAL 0/0"
                b""" ("proto_version" '1', "publication_names" 'p, gone')"""
            )
            while not conn.execute("SELECT active FROM pg_replication_slots WHERE active").fetchall():
                pass
            [slot] = facts_of(conninfo).slots
            assert slot.active
            assert slot.reader == Reader(publications=("p", "gone"))
            plain = facts_of(conninfo.replace("user=postgres", "user=spec_user"))
            assert plain.slots[0].active
            assert plain.slots[0].reader is None
            assert plain.usage.wal_senders >= 1
            assert plain.columns == ()
        while conn.execute("SELECT active FROM pg_replication_slots WHERE active").fetchall():
            pass
        prepare(conn, [CLEANUP])


@pytest.mark.server
def test_a_subscription_shows_what_the_reader_of_its_slot_asks_for(server: Server) -> None:
    with server.database() as name, server.connect(name) as conn:
        prepare(conn, SETUP)
        # Without a connection the subscription learns of no tables: they are entered as a refresh does.
        prepare(
            conn,
            [
                "CREATE SUBSCRIPTION s CONNECTION 'dbname=elsewhere' PUBLICATION p, q"
                " WITH (connect = false, slot_name = 'facts_slot')",
                "INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate)"
                " SELECT oid, 'f'::regclass, 'd' FROM pg_subscription WHERE subname = 's'",
            ],
        )
        facts = facts_of(server.conninfo(name))
        assert facts.slots[0].reader == Reader(publications=("p", "q"), subscription="s")
        [subscription] = facts.subscriptions
        assert (subscription.name, subscription.enabled, subscription.running) == ("s", False, False)
        assert subscription.not_ready == (SubscriptionTable("public.f", "d"),)
        assert facts.usage.waiting_subscriptions == ()
        prepare(conn, ["ALTER SUBSCRIPTION s SET (slot_name = NONE)", "DROP SUBSCRIPTION s", CLEANUP])


@pytest.mark.server
def test_a_value_that_looks_like_an_array_is_read_as_it_is(server: Server) -> None:
    with server.database() as name, server.connect(name) as conn:
        values = ['{"a,b}', "NULL", "", 'x"y\\']
        prepare(
            conn, ["CREATE TABLE t (id int PRIMARY KEY, v text)", "CREATE PUBLICATION p FOR TABLE t WHERE (v <> '')"]
        )
        for number, value in enumerate(values * 3):
            conn.execute("INSERT INTO t VALUES (%s, %s)", [number, value])
        prepare(conn, ["ANALYZE t"])
        [column] = facts_of(server.conninfo(name)).columns
        assert sorted(column.values) == sorted(values)


TABLES = (
    "DO $$ BEGIN FOR i IN {first}..{last} LOOP"
    " EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, r text)', i);"
    " EXECUTE format('INSERT INTO t%s VALUES (1, ''eu''), (2, ''eu'')', i);"
    " EXECUTE format('CREATE PUBLICATION p%s FOR TABLE t%s WHERE (r = ''eu'')', i, i); END LOOP; END $$"
)


@pytest.mark.server
def test_the_statistics_of_many_columns_are_looked_up_and_not_joined(server: Server) -> None:
    """Joined, the view is read as a whole for each column: for 5,000 of them more than a minute."""

    def blocks(conninfo: str) -> int:
        with connect(conninfo) as connection:
            [(plan,)] = connection.rows(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {_COLUMNS}")
        return int(plan[0]["Plan"]["Shared Hit Blocks"]) + int(plan[0]["Plan"]["Shared Read Blocks"])

    with server.database() as name, server.connect(name) as conn:
        prepare(conn, [TABLES.format(first=1, last=100), "ANALYZE"])
        few = blocks(server.conninfo(name))
        prepare(conn, [TABLES.format(first=101, last=400), "ANALYZE"])
        assert blocks(server.conninfo(name)) < 8 * few  # 4 if it grows with the columns, 16 with their square
