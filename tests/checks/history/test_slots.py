"""PUB715: a slot that is older than the publication of its reader."""

from __future__ import annotations

import psycopg
import pytest

from tests.rules.findings import findings
from tests.support.servers import PACKAGES, Servers

TABLE = "CREATE TABLE orders (id bigint PRIMARY KEY);\n"
SLOT = "SELECT pg_create_logical_replication_slot('app', 'pgoutput');\n"
ROW = "INSERT INTO orders VALUES (1);\n"
PUBLICATION = "CREATE PUBLICATION app FOR TABLE orders;\n"
OTHER = "CREATE PUBLICATION other FOR TABLE orders;\n"


@pytest.mark.parametrize(
    ("script", "certainty"),
    [
        (TABLE + SLOT + PUBLICATION, "assumed"),
        (TABLE + SLOT + ROW + PUBLICATION, "certain"),
        (TABLE + PUBLICATION + SLOT, None),
        (TABLE + OTHER + SLOT + PUBLICATION, None),
        (TABLE + "-- " + SLOT + PUBLICATION, None),
        (TABLE + SLOT.replace("pgoutput", "test_decoding") + PUBLICATION, None),
        (TABLE + SLOT + "\\connect elsewhere\n" + PUBLICATION, None),
    ],
)
def test_a_slot_that_is_older_than_every_publication_is_reported(script: str, certainty: str | None) -> None:
    assert [finding.certainty for finding in findings("PUB715", script, 17)] == ([certainty] if certainty else [])


@pytest.mark.server
@pytest.mark.parametrize("major", PACKAGES)
def test_a_change_before_the_publication_cannot_be_decoded(servers: Servers, major: int) -> None:
    server = servers[major]
    read = "SELECT count(*) FROM pg_logical_slot_peek_binary_changes('app', NULL, NULL, 'proto_version', '1', "
    read += "'publication_names', 'app')"
    for script, decodes in ((TABLE + SLOT + ROW + PUBLICATION, major >= 18), (TABLE + SLOT + PUBLICATION + ROW, True)):
        with server.database() as name, server.connect(name) as connection:
            connection.autocommit = True
            for statement in script.splitlines():
                connection.execute(statement)
            try:
                if decodes:
                    connection.execute(read)
                else:
                    with pytest.raises(psycopg.errors.UndefinedObject, match='publication "app" does not exist'):
                        connection.execute(read)
            finally:
                connection.execute("SELECT pg_drop_replication_slot('app')")
