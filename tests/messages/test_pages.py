"""docs/wire.md and docs/capture.md: their examples are what pubcheck and the servers do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pubcheck.stream import Decoder, encode, read
from pubcheck.stream.render.text import dump
from tests.messages.mutate import KINDS
from tests.messages.record_framings import drop_slot
from tests.support.servers import Server, Servers

DOCS = Path(__file__).parents[2] / "docs"
BYTES = re.compile(r"(?:[0-9a-f]{2} )*[0-9a-f]{2}(?= |$)")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)


def bytes_of(example: str) -> bytes:
    matches = [BYTES.match(line) for line in example.splitlines()]
    return b"".join(bytes.fromhex(match[0]) for match in matches if match is not None)


@pytest.mark.parametrize("example", blocks("wire.md", "text"), ids=lambda example: bytes_of(example)[:1].decode())
def test_an_example_of_a_message_is_decoded_as_the_page_says(example: str) -> None:
    data = bytes_of(example)
    decoder = Decoder()
    message = decoder.decode(data)
    assert encode(message) == data
    in_block = decoder.in_block and data[:1] in b"RYIUDTM"
    assert "".join(dump(data, in_block=in_block)) == example


def test_the_page_has_an_example_of_each_message() -> None:
    assert {bytes_of(example)[0] for example in blocks("wire.md", "text")} == set(KINDS)


SETUP = (
    "CREATE TABLE orders (id int PRIMARY KEY, note text)",
    "CREATE PUBLICATION eu FOR TABLE orders",
)
WORK = ("INSERT INTO orders VALUES (1, E'two\\nlines')", "UPDATE orders SET note = '|' WHERE id = 1")


@pytest.mark.server
@pytest.mark.parametrize("major", [16, 17, 18])
def test_a_stream_is_captured_as_the_page_says(
    servers: Servers, major: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = servers[major]
    monkeypatch.chdir(tmp_path)
    with server.database() as name, server.connect(name) as conn:
        create, drop = blocks("capture.md", "sql")
        for statement in SETUP:
            conn.execute(statement)
        conn.execute(create.replace("'capture'", f"'capture_{name}'"))
        try:
            for statement in WORK:
                conn.execute(statement)
            psql, recvlogical, *_ = (
                block.replace("capture", f"capture_{name}") for block in blocks("capture.md", "sh")
            )
            _copy(conn, psql)
            (program,) = re.findall(r"```python\n(.*?)```", (DOCS / "capture.md").read_text(), re.DOTALL)
            printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            assert re.fullmatch(r"0/[0-9A-F]+ \{'id': '1', 'note': 'two\\nlines'\}\n", printed)
            messages = [data for _, _, data, _ in read("stream.txt")]
            assert bytes(data[0] for data in messages) == b"BRICBUC"
            if shutil.which("psql") and shutil.which("pg_recvlogical"):
                assert _psql(server, name, psql) == messages
                assert _receive(server, name, recvlogical, messages) == messages
        finally:
            assert drop == "SELECT pg_drop_replication_slot('capture');\n"
            drop_slot(conn, f"capture_{name}")


def _copy(conn: psycopg.Connection[Any], block: str) -> None:
    """Run the COPY of a command of psql."""
    match = re.search(r'-c "(COPY .*?)" >', block, re.DOTALL)
    assert match is not None
    with conn.cursor() as cursor, cursor.copy(match[1]) as copy:
        Path("stream.txt").write_bytes(b"".join(bytes(piece) for piece in copy))


def _psql(server: Server, name: str, block: str) -> list[bytes]:
    command = block.partition("\npubcheck")[0].replace("-d shop", f"-d '{server.conninfo(name)}'")
    subprocess.run(command, shell=True, check=True)
    return [data for _, _, data, _ in read("stream.txt")]


def _receive(server: Server, name: str, block: str, messages: Sequence[bytes]) -> list[bytes]:
    command = block.partition("\npubcheck")[0].replace("-d shop", f"-d '{server.conninfo(name)}'")
    receiver = subprocess.Popen(f"exec {command}", shell=True, stderr=subprocess.PIPE)
    size = sum(len(data) + 1 for data in messages)
    path, deadline = Path("stream.bin"), time.monotonic() + 60
    try:
        while not (path.exists() and path.stat().st_size >= size) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        receiver.terminate()
        receiver.communicate()
    return [data for _, _, data, _ in read(path)]
