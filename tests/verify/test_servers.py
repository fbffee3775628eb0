"""The stream of a real server conforms to its schema, and is the one that its script makes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pubcheck.simulate.script import steps
from pubcheck.source import Source
from pubcheck.stream import parse_lsn
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify import Options, Verifier, publisher_of, verify
from pubcheck.verify.against_script import simulate, verify_script
from tests.support.servers import MAJORS, Servers

SCHEMA = """
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE TABLE orders (id bigint, region text, total numeric(10,2), at timestamptz DEFAULT '2024-01-01 00:00+00',
                     mood mood, tags text[], doc jsonb, PRIMARY KEY (id, region));
CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY, day date NOT NULL, v varchar(8)) PARTITION BY RANGE (day);
CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE log_2 PARTITION OF log DEFAULT;
CREATE TABLE items (id int PRIMARY KEY, name text NOT NULL, hidden text);
ALTER TABLE items REPLICA IDENTITY FULL;
CREATE PUBLICATION eu FOR TABLE orders WHERE (region IN ('eu', 'uk')), items WHERE (id < 100);
CREATE PUBLICATION log FOR TABLE log WITH (publish = 'insert', publish_via_partition_root = true);
"""
SCRIPT = """
INSERT INTO orders VALUES (1, 'eu', 10.5, DEFAULT, 'happy', '{a,b}', '{"a": 1}'),
    (2, 'us', 1, DEFAULT, NULL, NULL, NULL);
UPDATE orders SET region = 'uk' WHERE id = 2;
UPDATE orders SET region = 'us' WHERE id = 1;
UPDATE orders SET total = 7 WHERE id = 2;
BEGIN;
INSERT INTO items VALUES (1, 'x', 'h'), (200, 'y', NULL);
SAVEPOINT a;
UPDATE items SET name = 'z';
ROLLBACK TO a;
DELETE FROM items WHERE id = 1;
COMMIT;
INSERT INTO log (day, v) VALUES ('2024-05-05', 'abc'), ('1999-01-01', NULL);
ALTER TABLE items ADD COLUMN more int;
INSERT INTO items VALUES (3, 'z', NULL, 5);
DELETE FROM orders;
TRUNCATE items;
"""
PUBLICATIONS = ("eu", "log")


COLUMN_ORDER = """
CREATE TABLE m (id int, region text, v int, g int GENERATED ALWAYS AS (v * 2) STORED, PRIMARY KEY (id, region))
    PARTITION BY LIST (region);
CREATE TABLE m_eu (v int, dropped int, more int, id int NOT NULL, region text NOT NULL,
                   g int GENERATED ALWAYS AS (v * 2) STORED);
ALTER TABLE m_eu DROP COLUMN dropped, DROP COLUMN more;
ALTER TABLE m ATTACH PARTITION m_eu FOR VALUES IN ('eu');
CREATE PUBLICATION root FOR TABLE m (id, region, v) WITH (publish_via_partition_root);
"""
"""Until 17 a list of all columns counts as none; a partition is described by the numbers of any other list."""


def captured(
    servers: Servers, major: int, setup: Sequence[str], script: Sequence[str], publications: str, encoding: str = "UTF8"
) -> list[Frame]:
    """Return the stream of statements."""
    server = servers[major]
    with server.connect() as admin, server.database() as name:
        admin.execute(f"DROP DATABASE {name}")
        admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")
        with server.connect(name) as connection:
            connection.execute("SET client_encoding = 'UTF8'")
            for statement in setup:
                connection.execute(statement)
            connection.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [name])
            try:
                for statement in script:
                    connection.execute(statement)
                rows = connection.execute(
                    "SELECT lsn::text, xid::text::int, data FROM pg_logical_slot_peek_binary_changes(%s, NULL, NULL,"
                    " 'proto_version', '1', 'publication_names', %s)",
                    [name, publications],
                ).fetchall()
            finally:
                connection.execute("SELECT pg_drop_replication_slot(%s)", [name])
    return [Frame(parse_lsn(lsn), xid, data, Place(number)) for number, (lsn, xid, data) in enumerate(rows, 1)]


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_a_stream_of_a_server_conforms(servers: Servers, major: int) -> None:
    setup, script = (list(steps(Source("text.sql", text))) for text in (SCHEMA, SCRIPT))
    frames = captured(servers, major, [step.sql for step in setup], [step.sql for step in script], "eu, log")
    options = Options(proto_version=1, binary=False, messages=False)
    simulation = simulate(major, setup, script, PUBLICATIONS, {})
    verifier = Verifier(simulation.publisher, options)
    assert not list(verify_script(verifier, simulation, frames))
    # Without the script, the column that it adds is not in the schema.
    about = list(verify(publisher_of(SCHEMA, PUBLICATIONS, major), frames, options))
    assert {finding.rule for finding in about} == {"PUB853"}


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
@pytest.mark.parametrize("columns", ["(id, region, v)", "(id, region)", ""])
def test_a_partition_whose_columns_have_another_order_conforms(servers: Servers, major: int, columns: str) -> None:
    schema = COLUMN_ORDER.replace("(id, region, v)", columns)
    script = ["INSERT INTO m VALUES (1, 'eu', 1)", "UPDATE m SET v = 2", "DELETE FROM m"]
    frames = captured(servers, major, [schema], script, "root")
    assert not list(verify(publisher_of(schema, ["root"], major), frames))


@pytest.mark.server
def test_values_that_their_input_functions_refuse_conform(servers: Servers) -> None:
    """A length is in bytes where the encoding is SQL_ASCII, and a timestamp can be rounded up to one out of range."""
    schema = """
        CREATE TABLE t (id int PRIMARY KEY, c char(4), at timestamptz(3), list timestamptz(3)[]);
        CREATE PUBLICATION p FOR TABLE t;
    """
    last = "'294276-12-31 23:59:59.9996+00'::timestamptz"
    script = ["SET timezone = 'UTC'", f"INSERT INTO t VALUES (1, 'é', {last}, ARRAY[{last}])"]
    frames = captured(servers, 17, [schema], script, "p", encoding="SQL_ASCII")
    assert not list(verify(publisher_of(schema, ["p"], 17), frames))
