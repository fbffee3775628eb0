"""`python -m tests.live.speed [--major N]... [--ports FILE] [--tables N] [--publications N]`

How long it takes to read a large database, compared with its queries alone, in CPU time of both sides: a server that
shares the machine would make wall-clock time a matter of chance.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from pubcheck import __version__
from pubcheck.live import queries
from pubcheck.live.connect import Connection, connect
from pubcheck.live.document import encode, read_snapshot, snapshots, source_of
from pubcheck.live.load import load
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import BY_NUMBER
from tests.support.servers import add_options, asked

_PORTION = 100
"""Tables that one message creates."""
_TABLE = """
CREATE TABLE app.t{0} (id bigserial PRIMARY KEY, region varchar(20) NOT NULL DEFAULT 'eu', tenant int NOT NULL
    REFERENCES app.tenants, created timestamptz NOT NULL DEFAULT now(), note text, total numeric(10, 2)
    CHECK (total >= 0), mood app.mood, data jsonb, tags text[], flag boolean DEFAULT false);
CREATE INDEX ON app.t{0} (tenant, created);
"""


def build(conn: psycopg.Connection[Any], tables: int, publications: int) -> None:
    """Create the tables, and the publications that share them; a fifth of the members has a filter."""
    conn.execute("CREATE SCHEMA app; CREATE TYPE app.mood AS ENUM ('ok', 'bad')")
    conn.execute("CREATE TABLE app.tenants (id int PRIMARY KEY)")
    for first in range(0, tables, _PORTION):
        conn.execute("".join(map(_TABLE.format, range(first, min(first + _PORTION, tables)))))
    for number in range(publications):
        members = (
            f"app.t{table}" + (f" WHERE (region = 'eu' AND tenant > {number})" if table % 5 == 0 else "")
            for table in range(number, tables, publications)
        )
        conn.execute(f"CREATE PUBLICATION p{number} FOR TABLE {', '.join(members)}")
    conn.execute("ANALYZE")


def measured(connection: Connection) -> tuple[float, float, int]:
    """Return the CPU seconds of the queries alone, those of reading and loading, and the round trips of that."""
    ((backend,),) = connection.rows("SELECT pg_backend_pid()")
    major = BY_NUMBER[connection.major]
    started = _cpu(backend)
    for query in (queries.server(connection.major), *(query(major) for query in queries.OBJECTS)):
        connection.rows(query)
    bare, trips, started = _cpu(backend) - started, connection.round_trips, _cpu(backend)
    text = encode(read_snapshot(connection, __version__)).decode()
    source = source_of(connection.name, text, live=True)
    load(Session(Catalog(connection.major), complete=True), snapshots([source])[0], 0)
    # The transaction was opened with one more.
    return bare, _cpu(backend) - started, connection.round_trips - trips + 1


def _cpu(backend: int) -> float:
    """Return the CPU seconds of this process and of the server's."""
    fields = Path(f"/proc/{backend}/stat").read_text().rsplit(")", 1)[1].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live.speed", description=__doc__)
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--publications", type=int, default=200)
    add_options(parser)
    options = parser.parse_args()
    with asked(options) as servers:
        for major in servers:
            with servers[major].database() as name:
                with servers[major].connect(name) as conn:
                    build(conn, options.tables, options.publications)
                with connect(servers[major].conninfo(name)) as connection:
                    for _ in range(3):
                        bare, whole, trips = measured(connection)
                        print(
                            f"PostgreSQL {major}: queries {bare:.2f} s, all {whole:.2f} s, {whole / bare:.2f} times,"
                            f" {trips} round trips",
                            flush=True,
                        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
