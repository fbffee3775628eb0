"""A logical replication slot of a simulated server: what reading it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.simulate.decoding.decoder import Decoder, note_origins
from pubcheck.simulate.decoding.output_plugin import DecodingContext, OutputPlugin, Values
from pubcheck.simulate.decoding.reorder_buffer import Memory
from pubcheck.simulate.log import Abort, Log
from pubcheck.simulate.not_followed import NotFollowed

Row = tuple[int, int, bytes]
"""Position, transaction id, data; the position of XLogData is 0 for a message that is not the last of its change."""

PluginFactory = Callable[[], OutputPlugin]


class Server(Protocol):
    """The part of a database that a slot needs."""

    major: int
    log: Log


def _pgoutput() -> OutputPlugin:
    from pubcheck.simulate.decoding.pgoutput import Pgoutput

    return Pgoutput()


def _test_decoding() -> OutputPlugin:
    from pubcheck.simulate.decoding.test_decoding import TestDecoding

    return TestDecoding()


_PLUGINS: Mapping[str, PluginFactory] = {"pgoutput": _pgoutput, "test_decoding": _test_decoding}


class Slot:
    """A slot, created at the current end of the log. ``plugin`` is a name, or a class of output plugins.

    ``two_phase``: transactions are decoded when they are prepared.
    """

    def __init__(self, server: Server, plugin: str | PluginFactory, *, two_phase: bool = False) -> None:
        self._name = plugin if isinstance(plugin, str) else getattr(plugin, "__name__", "plugin")
        if isinstance(plugin, str):
            if plugin not in _PLUGINS:
                raise ServerError("58P01", f'could not access file "{plugin}": No such file or directory')
            plugin = _PLUGINS[plugin]
        self._server = server
        self._plugin = plugin
        self.two_phase = two_phase
        self._from = len(server.log.records)

    def peek(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> list[Row]:
        """Return everything from where the slot is (pg_logical_slot_peek_changes, in a session of its own).

        ``settings`` are the session's run-time parameters, ``options`` the plugin's. Raises ServerError where
        decoding fails.
        """
        return self.read(settings or {}, options)[0]

    def get(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> list[Row]:
        """Return the same, and move the slot to the end of the log (pg_logical_slot_get_changes)."""
        rows = self.peek(settings, **options)
        self._from = len(self._server.log.records)
        return rows

    def read(
        self, settings: Mapping[str, str], options: Mapping[str, str | None], *, textual: bool = False
    ) -> tuple[list[Row], list[str]]:
        """Return the rows and the warnings. ``textual``: the function that reads expects a textual output plugin."""
        reader = Reader(self, settings, options)
        if textual and reader.output_type == "binary":
            raise ServerError(
                "0A000",
                f'logical decoding output plugin "{self._name}" produces binary output, but function'
                ' "pg_logical_slot_peek_changes(name,pg_lsn,integer,text[])" expects textual data',
            )
        rows = [(lsn, xid, data) for lsn, xid, data, _ in reader.receive()]
        reader.end()
        return rows, reader.notices

    def start(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> Reader:
        """Attach a walsender (START_REPLICATION): it decodes the log as far as it is, each time it is asked."""
        return Reader(self, settings or {}, options)

    @property
    def server(self) -> Server:
        return self._server

    @property
    def position(self) -> int:
        """The number of records before the slot."""
        return self._from

    def new_plugin(self) -> OutputPlugin:
        return self._plugin()


class Reader:
    """One session that reads a slot."""

    def __init__(self, slot: Slot, settings: Mapping[str, str], options: Mapping[str, str | None]) -> None:
        self._log = slot.server.log
        self._position = slot.position
        self._status_known = self._position
        self._aborted: set[int] = set()
        origins: dict[int, str] = {}
        for record in self._log.records[: self._position]:
            note_origins(record, origins)
        self._rows: list[tuple[int, int, bytes, bool]] = []
        major = slot.server.major
        folded = {name.lower(): value for name, value in settings.items()}
        self._context = DecodingContext(
            major,
            list(options.items()),
            Values(major, folded),
            origins,
            lambda lsn, xid, data, last: self._rows.append((lsn, xid, data, last)),
        )
        self._decoder = Decoder(
            slot.new_plugin(),
            self._context,
            _memory(folded),
            two_phase_slot=slot.two_phase,
            aborted=self._aborted,
            origins=origins,
        )
        slot.two_phase = slot.two_phase or (self._context.twophase and self._context.twophase_opt_given)

    @property
    def output_type(self) -> str:
        return self._decoder.output_type

    @property
    def notices(self) -> list[str]:
        return self._context.notices

    def receive(self) -> list[tuple[int, int, bytes, bool]]:
        """Decode what is new in the log: rows with whether each is the last of its change.

        Raises ServerError where decoding fails; ``sent`` then returns what was sent before.
        """
        records = self._log.records
        for record in records[self._status_known :]:
            if isinstance(record, Abort):
                self._aborted.update((record.xid, *record.subtransactions))
        new = records[self._position :]
        self._position = self._status_known = len(records)
        try:
            self._decoder.read(new)
        except Unknowable as unknown:
            raise NotFollowed(unknown.reason) from unknown
        return self.sent()

    def forget_log(self) -> None:
        """Drop the records that were decoded. The last one is kept, because the next one may be a part of it."""
        records = self._log.records
        del records[: max(self._position - 1, 0)]
        self._position = self._status_known = len(records)

    def sent(self) -> list[tuple[int, int, bytes, bool]]:
        """Return the rows that were written and not yet returned."""
        rows = self._rows[:]
        self._rows.clear()
        return rows

    def end(self) -> None:
        self._decoder.end()


def _memory(settings: Mapping[str, str]) -> Memory:
    memory = Memory(immediate=settings.get("debug_logical_replication_streaming", "").lower() == "immediate")
    if "logical_decoding_work_mem" in settings:
        memory.limit = work_mem(settings["logical_decoding_work_mem"])
    return memory


_UNITS = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4, "": 1024}
_LEAST = 64 * 1024


def work_mem(text: str) -> int:
    """Return the bytes of logical_decoding_work_mem as SET reads it. Raises ServerError 22023."""
    digits = text.strip().rstrip("kKmMgGtTbB ")
    unit = text.strip()[len(digits) :].strip()
    if not digits.isdigit() or unit.lower() not in _UNITS:
        raise ServerError("22023", f'invalid value for parameter "logical_decoding_work_mem": "{text}"')
    size = int(digits) * _UNITS[unit.lower()]
    if size < _LEAST:
        kilobytes = size // 1024
        raise ServerError(
            "22023",
            f'{kilobytes} kB is outside the valid range for parameter "logical_decoding_work_mem"'
            " (64 kB .. 2147483647 kB)",
        )
    return size
