"""The server's refusals of output plugins (replication/logical/logical.c)."""

from __future__ import annotations

from typing import Any

import pytest

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.decoding.output_plugin import OutputPlugin
from tests.simulate.decoding.support import HandWritten, noting

SMALL = {"logical_decoding_work_mem": "64kB"}


def refusal(
    server: HandWritten, plugin: Any, settings: dict[str, str] | None = None, **options: str
) -> tuple[str, str]:
    slot = server.database.slot(plugin, two_phase=True)
    with pytest.raises(ServerError) as refused:
        slot.peek(settings, **options)
    return refused.value.sqlstate, refused.value.message


@pytest.mark.parametrize("name", ["begin", "change", "commit"])
def test_a_plugin_needs_three_callbacks(name: str) -> None:
    plugin = noting([], without=[name])
    assert refusal(HandWritten(), plugin) == ("XX000", f"output plugins have to register a {name} callback")


@pytest.mark.parametrize("name", ["stream_start", "stream_stop", "stream_change", "stream_commit", "stream_abort"])
def test_streaming_needs_its_callbacks(name: str) -> None:
    server = HandWritten()
    slot = server.database.slot(noting([], without=[name]))
    server.many(100, xid=900)
    (server.abort if name == "stream_abort" else server.commit)(900)
    reader = slot.start(SMALL)
    if name == "stream_abort":  # the reader must have streamed before it hears of the end
        end = server.database.log.records.pop()
        reader.receive()
        server.database.log.records.append(end)
    with pytest.raises(ServerError) as refused:
        reader.receive()
    assert (refused.value.sqlstate, refused.value.message) == (
        "55000",
        f"logical streaming requires a {name}_cb callback",
    )


@pytest.mark.parametrize("name", ["begin_prepare", "prepare", "commit_prepared", "rollback_prepared"])
def test_prepared_transactions_need_their_callbacks(name: str) -> None:
    server = HandWritten()
    slot = server.database.slot(noting([], without=[name]), two_phase=True)
    server.insert(1, xid=900)
    server.prepare(900, "g")
    (server.abort if name == "rollback_prepared" else server.commit)(900, gid="g")
    with pytest.raises(ServerError) as refused:
        slot.peek()
    assert (refused.value.sqlstate, refused.value.message) == (
        "55000",
        f"logical replication at prepare time requires a {name}_cb callback",
    )


def test_a_streamed_prepared_transaction_needs_stream_prepare() -> None:
    server = HandWritten()
    slot = server.database.slot(noting([], without=["stream_prepare"]), two_phase=True)
    server.many(100, xid=900)
    server.prepare(900, "g")
    with pytest.raises(ServerError, match="logical streaming at prepare time requires a stream_prepare_cb callback"):
        slot.peek(SMALL)


def test_messages_and_truncations_may_be_ignored_in_a_stream() -> None:
    server, calls = HandWritten(), list[str]()
    slot = server.database.slot(noting(calls, without=["stream_message", "stream_truncate"]))
    server.many(100, xid=900)
    server.message(900)
    server.truncate(900)
    server.commit(900)
    slot.peek(SMALL)
    assert {call.split()[0] for call in calls} == {
        "startup",
        "filter_by_origin",
        "stream_start",
        "stream_change",
        "stream_stop",
        "stream_commit",
        "shutdown",
    }


def test_without_stream_callbacks_large_transactions_wait() -> None:
    server, calls = HandWritten(), list[str]()
    stream = ["start", "stop", "abort", "commit", "change", "message", "truncate"]
    slot = server.database.slot(noting(calls, without=[f"stream_{name}" for name in stream]))
    server.many(100, xid=900)
    server.commit(900)
    slot.peek(SMALL)
    assert sum(call.startswith("change") for call in calls) == 100


class _Writes(OutputPlugin):
    """Writes in one callback."""

    where = ""
    prepared = True

    def _maybe(self, ctx: Any, name: str) -> None:
        if name == self.where:
            if self.prepared:
                ctx.prepare_write()
            ctx.write()

    def startup(self, ctx: Any, options: Any, is_init: bool) -> None:
        self._maybe(ctx, "startup")

    def begin(self, ctx: Any, txn: Any) -> None:
        self._maybe(ctx, "begin")

    def change(self, ctx: Any, txn: Any, relation: Any, change: Any) -> None:
        self._maybe(ctx, "change")

    def commit(self, ctx: Any, txn: Any, commit_lsn: int) -> None:
        self._maybe(ctx, "commit")

    def shutdown(self, ctx: Any) -> None:
        self._maybe(ctx, "shutdown")

    def filter_by_origin(self, ctx: Any, origin_id: int) -> bool:
        self._maybe(ctx, "filter_by_origin")
        return False

    def filter_prepare(self, ctx: Any, xid: int, gid: str) -> bool:
        self._maybe(ctx, "filter_prepare")
        return False

    begin_prepare = begin

    def prepare(self, ctx: Any, txn: Any, prepare_lsn: int) -> None:
        self._maybe(ctx, "prepare")


def _transaction(server: HandWritten) -> None:
    server.insert(1, xid=900)
    server.commit(900)
    server.insert(2, xid=901)
    server.prepare(901, "g")


@pytest.mark.parametrize("where", ["startup", "shutdown", "filter_by_origin", "filter_prepare"])
def test_some_callbacks_may_not_write(where: str) -> None:
    server = HandWritten()
    slot = server.database.slot(type("Plugin", (_Writes,), {"where": where}), two_phase=True)
    _transaction(server)
    with pytest.raises(ServerError, match="writes are only accepted in commit, begin and change callbacks"):
        slot.peek()


@pytest.mark.parametrize("where", ["begin", "change", "commit", "prepare"])
def test_a_write_must_be_prepared(where: str) -> None:
    server = HandWritten()
    plugin = type("Plugin", (_Writes,), {"where": where, "prepared": False})
    slot = server.database.slot(plugin, two_phase=True)
    _transaction(server)
    with pytest.raises(ServerError, match="OutputPluginPrepareWrite needs to be called before OutputPluginWrite"):
        slot.peek()


def test_an_unknown_plugin_is_a_missing_file() -> None:
    with pytest.raises(ServerError) as refused:
        HandWritten().database.slot("wal2json")
    assert refused.value.sqlstate == "58P01"


def test_the_textual_function_refuses_binary_output() -> None:
    slot = HandWritten().database.slot("pgoutput")
    with pytest.raises(ServerError) as refused:
        slot.read({}, {"proto_version": "1", "publication_names": "p"}, textual=True)
    assert refused.value.sqlstate == "0A000"
    assert refused.value.message.startswith('logical decoding output plugin "pgoutput" produces binary output')
