"""The most frequent complaints about publications in public issue threads, and what pubcheck reports of each."""

from __future__ import annotations

import pytest
from msgspec import Struct

from pubcheck.config import Config
from pubcheck.consumers.profiles import use_of
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source

ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, total numeric, note text);\n"
EVENTS = (
    "CREATE TABLE events (id bigint, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);\n"
    "CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');\n"
)


class Complaint(Struct):
    """``number`` is its rank among the complaints, by the threads in which it was found. ``thread`` is one of
    them; ``consumer`` the reader of that thread, "" for any."""

    number: int
    thread: str
    problem: str
    sql: str
    rule: str
    consumer: str = ""


COMPLAINTS = [
    Complaint(
        1,
        "Unleash#4303",
        "UPDATE of a table without a key fails once it is published",
        "CREATE TABLE log (line text);\nCREATE PUBLICATION app FOR ALL TABLES;\n",
        "PUB302",
    ),
    Complaint(
        2,
        "MaterializeInc/materialize#17956",
        "old values are missing because the identity is not FULL",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders;\n",
        "PUB907",
        "materialize",
    ),
    Complaint(
        2,
        "supabase/supabase#4905",
        "the old row of a DELETE is seen by everybody, or not at all",
        ORDERS + "ALTER TABLE orders REPLICA IDENTITY FULL;\nCREATE PUBLICATION supabase_realtime FOR TABLE orders;\n",
        "PUB907",
        "supabase-realtime",
    ),
    Complaint(
        3,
        "PeerDB#2286",
        "changes arrive under the names of partitions",
        EVENTS + "CREATE PUBLICATION app FOR TABLE events;\n",
        "PUB904",
        "peerdb",
    ),
    Complaint(
        4,
        "npgsql/npgsql#6176",
        "the slot is older than the publication",
        ORDERS
        + "SELECT pg_create_logical_replication_slot('app', 'pgoutput');\nINSERT INTO orders VALUES (1);\n"
        + "CREATE PUBLICATION app FOR TABLE orders;\n",
        "PUB715",
    ),
    Complaint(
        5,
        "willow-cdc/willow PR 37",
        "FOR ALL TABLES takes in too much",
        ORDERS + "CREATE PUBLICATION app FOR ALL TABLES;\n",
        "PUB902",
        "supabase-etl",
    ),
    Complaint(
        6,
        "sequin#1257",
        "a partition has another replica identity than the root",
        EVENTS
        + "ALTER TABLE events REPLICA IDENTITY FULL;\n"
        + "CREATE PUBLICATION app FOR TABLE events WITH (publish_via_partition_root = true);\n",
        "PUB511",
    ),
    Complaint(
        7,
        "electric#2692",
        "a consumer rewrites the publication that others read",
        ORDERS + "CREATE PUBLICATION electric_publication_default FOR TABLE orders;\n",
        "PUB914",
        "electric, materialize",
    ),
    Complaint(
        8,
        "supabase/cli#883",
        "a new table is forgotten",
        ORDERS
        + "CREATE TABLE users (id bigint PRIMARY KEY);\nCREATE TABLE items (id bigint PRIMARY KEY);\n"
        + "CREATE PUBLICATION app FOR TABLE orders, users, items;\nCREATE TABLE invoices (id bigint PRIMARY KEY);\n",
        "PUB818",
    ),
    Complaint(
        9,
        "materialize#25122",
        "TRUNCATE stops the pipeline",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders;\n",
        "PUB903",
        "materialize",
    ),
    Complaint(
        10,
        "dba.SE 334880",
        "a row filter uses a column outside the key",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders WHERE (total > 0);\n",
        "PUB301",
    ),
    Complaint(
        10,
        "dbtrail#828",
        "the reader refuses row filters, or copies unfiltered",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders WHERE (id > 0);\n",
        "PUB905",
        "dbtrail",
    ),
    Complaint(
        11,
        "citus#6374",
        "a columnar table is a member, and INSERT fails",
        "CREATE EXTENSION citus;\nCREATE TABLE facts (id bigint) USING columnar;\n"
        "CREATE PUBLICATION app FOR TABLE facts WITH (publish = 'insert');\n",
        "PUB910",
        "citus",
    ),
    Complaint(
        12,
        "risingwave PR 24380",
        "generated columns are missing",
        "CREATE TABLE sums (id bigint PRIMARY KEY, net numeric, gross numeric GENERATED ALWAYS AS (net * 2) STORED);\n"
        "CREATE PUBLICATION app FOR TABLE sums;\n",
        "PUB808",
    ),
    Complaint(
        13,
        "electric#1831",
        "the column list lacks the identity",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders (total);\n",
        "PUB406",
    ),
    Complaint(
        14,
        "supabase/walrus#15",
        "a column list hides nothing from subscribers",
        ORDERS + "CREATE PUBLICATION supabase_realtime FOR TABLE orders (id, total);\n",
        "PUB906",
        "supabase-realtime",
    ),
    Complaint(
        15,
        "ClickHouse#64615",
        "the name is folded, and the publication not found",
        ORDERS + 'CREATE PUBLICATION "App" FOR TABLE orders;\n',
        "PUB814",
    ),
    Complaint(
        15,
        "trigger.dev PR 2736",
        "an operation is missing, and nothing arrives",
        ORDERS + "CREATE PUBLICATION app FOR TABLE orders WITH (publish = 'insert');\n",
        "PUB903",
        "trigger-dev",
    ),
]


@pytest.mark.parametrize("complaint", [pytest.param(complaint, id=complaint.thread) for complaint in COMPLAINTS])
def test_a_complaint_is_reported(complaint: Complaint) -> None:
    uses = tuple(use_of(name.strip()) for name in complaint.consumer.split(",") if name)
    config = Config(postgres=(18,), complete=True, extend_select=("PUB808",), consumers=uses)
    diagnostics = Linter(config).lint(Unit((Source("example.sql", complaint.sql),))).diagnostics
    assert complaint.rule in {diagnostic.rule for diagnostic in diagnostics}


def test_all_of_the_fifteen_most_frequent_complaints_are_reported() -> None:
    assert {complaint.number for complaint in COMPLAINTS} == set(range(1, 16))
