"""The stream of a real server conforms to its schema, and is the one that its script makes."""

from __future__ import annotations

import pytest

from pubcheck.simulate.script import steps
from pubcheck.source import Source
from pubcheck.stream import parse_lsn
from pubcheck.stream.framing.frame import Frame, Place
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


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_a_stream_of_a_server_conforms(servers: Servers, major: int) -> None:
    setup, script = (list(steps(Source("text.sql", text))) for text in (SCHEMA, SCRIPT))
    with servers[major].database() as name, servers[major].connect(name) as connection:
        for step in setup:
            connection.execute(step.sql)
        connection.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [name])
        try:
            for step in script:
                connection.execute(step.sql)
            rows = connection.execute(
                "SELECT lsn::text, xid::text::int, data FROM pg_logical_slot_peek_binary_changes(%s, NULL, NULL,"
                " 'proto_version', '1', 'publication_names', 'eu, log')",
                [name],
            ).fetchall()
        finally:
            connection.execute("SELECT pg_drop_replication_slot(%s)", [name])
    frames = [Frame(parse_lsn(lsn), xid, data, Place(number)) for number, (lsn, xid, data) in enumerate(rows, 1)]
    options = Options(proto_version=1, binary=False, messages=False)
    simulation = simulate(major, setup, script, PUBLICATIONS, {})
    verifier = Verifier(simulation.publisher, options)
    assert not list(verify_script(verifier, simulation, frames))
    # Without the script, the column that it adds is not in the schema.
    about = list(verify(publisher_of(SCHEMA, PUBLICATIONS, major), frames, options))
    assert {finding.rule for finding in about} == {"PUB853"}
