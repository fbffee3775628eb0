"""The order in which callbacks are called, as ``callbacks.txt`` has it for each script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pubcheck.simulate.server_state import Record
from tests.simulate.decoding.support import HandWritten, noting

GOLDEN = Path(__file__).with_name("callbacks.txt")


def one_transaction(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.message(900)
    server.truncate(900)
    server.commit(900)


def order_of_commits(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.insert(2, xid=901)
    server.commit(901)
    server.insert(3, xid=900)
    server.commit(900)


def savepoints(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.insert(2, xid=901, top=900)
    server.insert(3, xid=902, top=900)
    server.abort(902, top=900)
    server.insert(4, xid=900)
    server.commit(900, subtransactions=(901,))


def rolled_back(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.abort(900)


def not_transactional(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.message(900, transactional=False)
    server.message(0, transactional=False)
    server.commit(900)


def prepared_and_committed(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.prepare(900, "g")
    server.commit(900, gid="g")


def prepared_and_rolled_back(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.prepare(900, "g")
    server.abort(900, gid="g")


def streamed(server: HandWritten) -> None:
    server.many(70, xid=900)
    server.commit(900)


def streamed_with_savepoint(server: HandWritten) -> None:
    server.many(40, xid=900)
    server.many(40, xid=901, top=900)
    server.abort(901, top=900)
    server.commit(900)


def streamed_and_prepared(server: HandWritten) -> None:
    server.many(70, xid=900)
    server.prepare(900, "g")
    server.commit(900, gid="g")


SCRIPTS: list[Callable[[HandWritten], None]] = [
    one_transaction,
    order_of_commits,
    savepoints,
    rolled_back,
    not_transactional,
    prepared_and_committed,
    prepared_and_rolled_back,
    streamed,
    streamed_with_savepoint,
    streamed_and_prepared,
]


def sequence(script: Callable[[HandWritten], None]) -> list[str]:
    """The calls of a walsender that follows a script record by record; runs of the same call are counted."""
    calls: list[str] = []
    server = HandWritten()
    reader = server.database.slot(noting(calls), two_phase=True).start({"logical_decoding_work_mem": "64kB"})

    def read(_record: Record) -> None:
        reader.receive()

    server.database.listeners.append(read)
    script(server)
    reader.receive()
    reader.end()
    calls = [call for call in calls if call != "filter_by_origin"]
    lines: list[str] = []
    count = 0
    for call, following in zip(calls, [*calls[1:], ""], strict=True):
        count += 1
        name = call.partition(" insert")[0]
        if not call.startswith("stream_change") or name != following.partition(" insert")[0]:
            lines.append(f"{name} ({count} rows)" if call.startswith("stream_change") else call)
            count = 0
    return lines


def golden() -> dict[str, list[str]]:
    """The sequences in the file, by the script's name."""
    blocks = GOLDEN.read_text().strip().split("\n\n")
    return {block.split("\n")[0].strip("# "): block.split("\n")[1:] for block in blocks}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_callbacks_come_in_the_server_s_order(script: Callable[[HandWritten], None]) -> None:
    assert sequence(script) == golden()[script.__name__]


if __name__ == "__main__":  # writes the file
    GOLDEN.write_text("\n\n".join("\n".join([f"# {script.__name__}", *sequence(script)]) for script in SCRIPTS) + "\n")
