"""`pubcheck explain` on a running server: who reads a publication, how many rows a filter takes, what FULL costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

import pubcheck
from tests.live.test_live import run
from tests.support.servers import PACKAGES, Servers, prepare

pytestmark = pytest.mark.server

SETUP = (
    "CREATE TABLE orders (id int PRIMARY KEY, region text)",
    "ALTER TABLE orders REPLICA IDENTITY FULL",
    "INSERT INTO orders SELECT i, CASE WHEN i % 5 = 0 THEN 'us' ELSE 'eu' END FROM generate_series(1, 1000) i",
    "ANALYZE orders",
    "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu')",
    "CREATE TABLE items (id int PRIMARY KEY)",
    "CREATE PUBLICATION other FOR TABLE items",
    "SELECT pg_create_logical_replication_slot('explained', 'pgoutput')",
    "CREATE SUBSCRIPTION s CONNECTION 'dbname=elsewhere' PUBLICATION eu"
    " WITH (connect = false, slot_name = 'explained')",
)
CLEANUP = (
    "ALTER SUBSCRIPTION s SET (slot_name = NONE)",
    "DROP SUBSCRIPTION s",
    "SELECT pg_drop_replication_slot('explained')",
)


@pytest.fixture(scope="module", params=PACKAGES)
def conninfo(request: pytest.FixtureRequest, servers: Servers) -> Iterator[str]:
    server = servers[request.param]
    with server.database() as name, server.connect(name) as connection:
        prepare(connection, SETUP)
        yield server.conninfo(name)
        prepare(connection, CLEANUP)


def test_the_text_has_the_facts(conninfo: str) -> None:
    text = re.sub(r"\s+", " ", run("explain", conninfo).stdout)
    assert re.search(r"slots explained: asks for it if it is that of subscription s; inactive, \S+ \w+ behind", text)
    assert "slots none reads it" in text
    assert "estimate about 80% of the table's rows, of which there are about 1,000, by its statistics" in text
    assert re.search(r"identity FULL: .* UPDATEs and DELETEs a day log an old row of about \d+ bytes", text)
    assert re.search(r'The server \(settings, slots and subscriptions\) warning subscription "s" is disabled', text)
    assert "Not in this explanation" not in text


def test_the_document_has_the_facts(conninfo: str) -> None:
    document = json.loads(run("explain", "--format", "json", conninfo).stdout)
    schema = Path(pubcheck.__file__).parent / "explain" / "explain.schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    eu, other = document["units"][0]["publications"]
    [slot] = eu["slots"]
    assert (slot["slot"], slot["active"], slot["asks"], slot["subscription"]) == ("explained", False, "assumed", "s")
    assert other["slots"] == []
    [answer] = eu["answers"]
    assert answer["estimate"] == {"rows": 1000.0, "low": pytest.approx(0.8), "high": pytest.approx(0.8)}
    assert answer["full_cost"]["rows"] == 1000
    assert other["answers"][0]["full_cost"] is None


def test_the_page_has_the_facts(conninfo: str) -> None:
    page = run("explain", "--format", "html", conninfo).stdout
    assert "Slot explained: asks for it if it is that of subscription s; inactive" in page
    assert "No slot reads it" in page
    assert "about 80% of the table" in page
    assert "<h2>The server</h2>" in page
