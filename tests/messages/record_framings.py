"""One stream in every form in which PostgreSQL's own programs print it.

`python -m tests.messages.record_framings` writes corpus/streams/framings from a new server. It needs psql and
pg_recvlogical on the PATH; those of another major will do.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from tests.support.servers import Server, Servers

FOLDER = Path(__file__).parents[2] / "corpus" / "streams" / "framings"

SETUP = (
    "CREATE TABLE notes (id int PRIMARY KEY, body text, raw bytea)",
    "CREATE TYPE mood AS ENUM ('glad')",
    "CREATE TABLE moods (id int PRIMARY KEY, mood mood)",
    "CREATE PUBLICATION p FOR ALL TABLES",
)
WORK = (
    "INSERT INTO notes VALUES (1, E'two\\nlines\\n', E'\\\\x000a5c')",
    "INSERT INTO notes VALUES (2, E'tab\\there | pipe, comma; \"quotes\" ''and'' \\\\ backslash', 'B\\000\\\\')",
    "BEGIN; UPDATE notes SET id = 3, body = NULL WHERE id = 2; DELETE FROM notes WHERE id = 1; COMMIT",
    "INSERT INTO moods VALUES (1, 'glad')",
    "SELECT pg_logical_emit_message(true, 'a|b,c', E'w\\n\\n\\t')",
    "SELECT pg_logical_emit_message(true, 'app', ' ends with a space ')",
    "INSERT INTO notes VALUES (4, E'\\n(1 row)\\n\\\\.\\n{\"data\": 1}\\nB', NULL)",
    "TRUNCATE notes, moods CASCADE",
)
ROWS = (
    "SELECT {columns} FROM pg_logical_slot_peek_binary_changes('framings', NULL, NULL,"
    " 'proto_version', '1', 'publication_names', 'p', 'messages', 'on')"
)
ALL = ROWS.format(columns="lsn, xid, data")

PSQL: Mapping[str, tuple[str, ...]] = {
    "psql-aligned.txt": ("-c", ALL),
    "psql-bordered.txt": ("-P", "border=2", "-P", "linestyle=unicode", "-c", ALL),
    "psql-ascii-border.txt": ("-P", "border=2", "-c", ALL),
    "psql-unaligned.txt": ("-A", "-c", ALL),
    "psql-tuples.txt": ("-At", "-c", ALL),
    "psql-expanded.txt": ("-x", "-c", ALL),
    "psql-expanded-bordered.txt": ("-x", "-P", "border=2", "-P", "linestyle=unicode", "-c", ALL),
    "psql-expanded-unaligned.txt": ("-xA", "-c", ALL),
    "psql-tabs.txt": ("-At", "-F", "\t", "-c", ALL),
    "psql-hex.txt": ("-At", "-c", ROWS.format(columns="lsn, xid, encode(data, 'hex')")),
    "psql-data.txt": ("-c", ROWS.format(columns="data")),
    "psql-escape.txt": ("-c", "SET bytea_output = escape", "-c", ALL),
    "psql-escape-tuples.txt": ("-Atq", "-c", "SET bytea_output = escape", "-c", ALL),
    "psql-escape.csv": ("-q", "--csv", "-c", "SET bytea_output = escape", "-c", ALL),
    "psql-timing.txt": ("-c", "\\timing on", "-c", ALL),
    "psql.csv": ("--csv", "-c", ALL),
    "psql-json.jsonl": ("-At", "-c", f"SELECT row_to_json(r) FROM ({ALL}) r"),
    "copy.txt": ("-c", f"COPY ({ALL}) TO STDOUT"),
    "copy-header.csv": ("-c", f"COPY ({ALL}) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *)"),
    "copy-escape.txt": ("-q", "-c", "SET bytea_output = escape", "-c", f"COPY ({ALL}) TO STDOUT"),
    "copy.bin": ("-c", f"COPY ({ALL}) TO STDOUT (FORMAT binary)"),
}
"""Arguments of psql by the file that holds its output."""


def record(server: Server, folder: Path, *, programs: bool = True) -> None:
    """Write the files of the ``programs``, and the messages as psycopg gets them: position, transaction, hex."""
    folder.mkdir(parents=True, exist_ok=True)
    with server.database() as name, server.connect(name) as conn:
        for statement in SETUP:
            conn.execute(statement)
        conn.execute("SELECT pg_create_logical_replication_slot('framings', 'pgoutput')")
        try:
            for statement in WORK:
                conn.execute(statement)
            query = ROWS.format(columns="lsn::text, xid::text, encode(data, 'hex')")
            for output in ("escape", "hex"):  # which changes the text of bytea columns in the messages too
                conn.execute(f"SET bytea_output = {output}")
                rows = _rows(conn, query)
                (folder / f"expected-{output}.hex").write_text("".join("\t".join(row) + "\n" for row in rows))
            if not programs:
                return
            for file, arguments in PSQL.items():
                command = ["psql", "-X", server.conninfo(name), *arguments]
                (folder / file).write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
            size = sum(len(bytes.fromhex(row[2])) + 1 for row in rows)
            _receive(server.conninfo(name), folder / "recvlogical.bin", size)
        finally:
            drop_slot(conn, "framings")


def _rows(conn: psycopg.Connection[Any], query: str) -> list[tuple[str, str, str]]:
    """Return the messages once the logical one is among them: 15 may write that to disk half a second later."""
    deadline = time.monotonic() + 30
    while True:
        rows = conn.execute(query).fetchall()
        if any(data.startswith("4d") for *_, data in rows) or time.monotonic() > deadline:
            return rows
        time.sleep(0.1)


def drop_slot(conn: psycopg.Connection[Any], name: str) -> None:
    """Drop a slot, as soon as the walsender of a client that has gone away has released it."""
    active = "SELECT 1 FROM pg_replication_slots WHERE slot_name = %s AND active"
    deadline = time.monotonic() + 30
    while conn.execute(active, [name]).fetchone() and time.monotonic() < deadline:
        time.sleep(0.05)
    conn.execute("SELECT pg_drop_replication_slot(%s)", [name])


def _receive(conninfo: str, path: Path, size: int) -> None:
    """Let pg_recvlogical write what the slot has, until the file has its size."""
    command = ["pg_recvlogical", "-d", conninfo, "-S", "framings", "--start", "--no-loop", "-f", str(path), "-F", "1"]
    command += ["-o", "proto_version=1", "-o", "publication_names=p", "-o", "messages=on"]
    path.unlink(missing_ok=True)
    receiver = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not (path.exists() and path.stat().st_size >= size):
            if time.monotonic() > deadline:
                raise TimeoutError(f"pg_recvlogical wrote {path.stat().st_size} of {size} bytes")
            time.sleep(0.1)
    finally:
        receiver.terminate()
        receiver.communicate()
    path.chmod(0o644)


if __name__ == "__main__":
    major = int(sys.argv[1]) if sys.argv[1:] else 18
    with Servers((major,)) as servers:
        record(servers[major], FOLDER)
