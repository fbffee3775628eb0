"""The interface of output plugins: the callbacks that a plugin may define, and the objects that they get.

Names and meanings are those of PostgreSQL's documentation (Logical Decoding Output Plugins), without ``_cb``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from pubcheck.postgres.budget import WORK
from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.journaled_dict import Heap
from pubcheck.postgres.catalog.rows import Column, Filter
from pubcheck.postgres.catalog.rows import Relation as RelationRow
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, Prepared, prepare
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.output import OutputContext, has_send, to_client
from pubcheck.postgres.output.names import type_name
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.row_changes import Matches, Row
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from pubcheck.postgres.tokens import split_identifiers
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.simulate.decoding.invalidations import Invalidation
from pubcheck.simulate.server_state import UNCHANGED, CatalogVersion, Tuple


class Values:
    """Calls output and send functions, and evaluates row filters, with the catalog as of a change."""

    def __init__(self, major: int, settings: Mapping[str, str]) -> None:
        self.major = major
        self.settings: Mapping[str, Any] = {
            "timezone": "UTC",
            **{
                name.lower(): _path(value) if name.lower() == "search_path" else value
                for name, value in settings.items()
            },
        }
        self._number = -1
        self._looked_up: set[int] = set()
        self._written: set[tuple[int, object]] = set()
        """The types, and labels of enum types, whose values were written."""
        self.on_lookup: Callable[[], None] = lambda: None
        """Called when a type is looked up for the first time, before it is: then the catalog is read."""
        self._output: OutputContext
        self._cache: SysCache
        self._matches: Matches

    def _see(self, version: CatalogVersion) -> None:
        if self._number == version.number:
            return
        self._number = version.number
        catalog = copy(version.catalog)
        catalog.settings = Heap(catalog.journal)  # those of this session, not of the one that wrote the change
        session = self._session = Session(catalog, complete=True)
        for name, value in self.settings.items():
            session.set(name, value)
        self._cache = session.syscache
        self._output = OutputContext(self.major, self._cache, self.settings.get)
        self._matches = self._matcher()

    def _look_up(self, version: CatalogVersion, type_oid: int) -> None:
        """Look up a type and that of an array's elements, which the array's name and output function need."""
        self._see(version)
        if type_oid not in self._looked_up:
            element = self._cache.element_type(type_oid)
            for oid in (type_oid, element) if element else (type_oid,):
                if oid not in self._looked_up:
                    self.on_lookup()
                    self._looked_up.add(oid)

    def _look_up_for(self, version: CatalogVersion, type_oid: int, value: Any) -> None:
        """Look up what the output functions of containers and enums need besides the type: rows of pg_range,
        pg_attribute and pg_enum."""
        self._look_up(version, type_oid)
        kind = self._cache.type(type_oid).kind
        if kind in "rmce":
            key = (type_oid, value if kind == "e" else None)
            if key not in self._written:
                self.on_lookup()
                self._written.add(key)

    def text(self, version: CatalogVersion, type_oid: int, value: Any) -> str:
        """Return the result of the type's output function."""
        self._look_up_for(version, type_oid, value)
        return self._output.writer(type_oid)(value)

    def client_text(self, version: CatalogVersion, type_oid: int, value: Any) -> str:
        """Return the same in the client's encoding; bytes that are not UTF-8 become surrogates."""
        text = self.text(version, type_oid, value)
        return self.to_client(text)

    def to_client(self, text: str) -> str:
        """Return a text in the client's encoding; bytes that are not UTF-8 become surrogates."""
        if "client_encoding" not in self.settings:
            return text
        return to_client(self._output, text).decode("utf-8", "surrogateescape")

    def binary(self, version: CatalogVersion, type_oid: int, value: Any) -> bytes | None:
        """Return the result of the type's send function; None if it has none."""
        self._look_up_for(version, type_oid, value)
        if not has_send(self._output, type_oid):
            return None
        return self._output.sender(type_oid)(value)

    def format_type(self, version: CatalogVersion, type_oid: int) -> str:
        """Return a type's name as format_type_be writes it."""
        self._look_up(version, type_oid)
        return type_name(self._output, type_oid)

    def type_name(self, version: CatalogVersion, type_oid: int) -> tuple[str, str]:
        """Return schema and name of a type as Type messages have them: of a domain those of its base type, and an empty
        schema for pg_catalog."""
        self._see(version)
        row = self._cache.type(self._cache.base_type(type_oid)[0])
        namespace = "" if row.namespace == PG_CATALOG else version.catalog.namespaces[row.namespace].name
        return self.to_client(namespace), self.to_client(row.name)

    def matcher(self, version: CatalogVersion) -> Matches:
        """Return the evaluation of filters for rows of that version; it raises ServerError as the server does."""
        self._see(version)
        return self._matches

    def _matcher(self) -> Matches:
        context = Context(InputContext(self.major, self._cache, self.settings.get), "C.UTF-8")
        prepared: dict[int, Prepared] = {}

        def matches(condition: Filter, row: Row) -> bool | None:
            evaluate = prepared.get(id(condition))
            if evaluate is None:
                if not isinstance(condition.expr, Expr):
                    raise Unknowable("a row filter that cannot be evaluated")
                evaluate = prepared[id(condition)] = prepare(condition.expr, context)
            context.budget.left = WORK  # each row is an evaluation: a long stream must not use it up
            return evaluate(row)

        return matches


def _path(text: str) -> list[str]:
    return list(split_identifiers(text) or ())


REQUIRED: Final = ("begin", "change", "commit")
"""The callbacks without which a plugin is not loaded."""

CALLBACKS: Final = (
    "startup",
    *REQUIRED,
    "truncate", "message", "filter_by_origin", "shutdown", "filter_prepare", "begin_prepare", "prepare",
    "commit_prepared", "rollback_prepared", "stream_start", "stream_stop", "stream_abort", "stream_prepare",
    "stream_commit", "stream_change", "stream_message", "stream_truncate",
)  # fmt: skip

OutputType = Literal["textual", "binary"]
ChangeAction = Literal["insert", "update", "delete"]


class OutputPlugin:
    """The base of output plugins. A plugin defines those of ``CALLBACKS`` that it wants, each under its name:

    ``startup(ctx, options, is_init)``, ``shutdown(ctx)``, ``begin(ctx, txn)``, ``change(ctx, txn, relation, change)``,
    ``truncate(ctx, txn, relations, change)``, ``commit(ctx, txn, commit_lsn)``,
    ``message(ctx, txn, message_lsn, transactional, prefix, content)``, ``filter_by_origin(ctx, origin_id) -> bool``,
    ``filter_prepare(ctx, xid, gid) -> bool``, ``begin_prepare(ctx, txn)``, ``prepare(ctx, txn, prepare_lsn)``,
    ``commit_prepared(ctx, txn, commit_lsn)``, ``rollback_prepared(ctx, txn, prepare_end_lsn, prepare_time)``,
    ``stream_start(ctx, txn)``, ``stream_stop(ctx, txn)``, ``stream_abort(ctx, txn, abort_lsn)``,
    ``stream_prepare(ctx, txn, prepare_lsn)``, ``stream_commit(ctx, txn, commit_lsn)``, and ``stream_change``,
    ``stream_message`` and ``stream_truncate`` with the arguments of the callbacks without ``stream_``.

    Instances hold the plugin's own state (output_plugin_private): one instance reads one slot once.
    """


class OutputPluginOptions(Struct):
    """What a plugin sets at ``startup``. ``receive_rewrites``: rows of tables that ALTER TABLE rewrites come too."""

    output_type: OutputType = "textual"
    receive_rewrites: bool = False


class Transaction(Protocol):
    """A transaction as plugins see it (ReorderBufferTXN). Times are in microseconds since 2000-01-01.

    ``commit_time`` is also the time of PREPARE or ROLLBACK; ``toplevel`` is the transaction itself unless it is a
    subtransaction. ``output_plugin_private`` is the plugin's own.
    """

    xid: int
    gid: str | None
    first_lsn: int
    final_lsn: int
    end_lsn: int
    commit_time: int
    origin_id: int
    origin_lsn: int
    output_plugin_private: object

    @property
    def toplevel(self) -> Transaction: ...

    @property
    def is_streamed(self) -> bool: ...

    @property
    def is_prepared(self) -> bool: ...


class Relation(Struct, frozen=True, gc=False):
    """A table with the catalog as of the change. ``row`` is its row of pg_class with its columns."""

    row: RelationRow
    version: CatalogVersion

    @property
    def oid(self) -> int:
        return self.row.oid

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def namespace(self) -> str:
        return self.version.catalog.namespaces[self.row.namespace].name

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that are not dropped."""
        return self.row.live()


class Change(Struct, frozen=True):
    """INSERT, UPDATE or DELETE of a row. ``txn`` is the transaction or subtransaction that made it.

    ``old`` and ``new`` are None where the log has no such row; their values are by column number.
    """

    action: ChangeAction
    lsn: int
    txn: Transaction
    origin_id: int
    old: Tuple | None
    new: Tuple | None


class TruncateChange(Struct, frozen=True):
    """TRUNCATE of the relations that the ``truncate`` callback gets."""

    lsn: int
    txn: Transaction
    origin_id: int
    cascade: bool
    restart_identity: bool


class Output:
    """The message that a callback is writing (ctx->out)."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: str | bytes) -> None:
        self._parts.append(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)

    def take(self) -> bytes:
        """Return what was written, and forget it."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


Writer = Callable[[int, int, bytes, bool], None]
"""Gets each message: position, transaction id, data, whether it is the last one of its change."""


class DecodingContext:
    """What each callback gets first (LogicalDecodingContext).

    ``output_plugin_options`` are the options that the reader gave, in order, None for one without a value.
    ``streaming`` and ``twophase``: the plugin has such callbacks, and its ``startup`` may turn them off;
    ``twophase_opt_given``: the reader asked for two-phase decoding by an option. ``values`` writes columns as text or
    binary, ``major`` is the server's, with its ``features``.
    """

    def __init__(
        self,
        major: int,
        options: Sequence[tuple[str, str | None]],
        values: Values,
        origins: Mapping[int, str],
        writer: Writer,
    ) -> None:
        self.major = major
        self.features = BY_NUMBER[major]
        self.output_plugin_options = options
        self.values = values
        self.streaming = False
        self.twophase = False
        self.twophase_opt_given = False
        self.out = Output()
        self.notices: list[str] = []
        self.accept_writes = False
        self.write_location = 0
        self.write_xid = 0
        self.invalidation_callbacks: list[Callable[[Invalidation], None]] = []
        self._origins = origins
        self._writer = writer
        self._prepared = False

    def prepare_write(self, last_write: bool = True) -> None:
        """Begin a message (OutputPluginPrepareWrite)."""
        if not self.accept_writes:
            raise ServerError("XX000", "writes are only accepted in commit, begin and change callbacks")
        self.out.take()
        self._prepared = True

    def write(self, last_write: bool = True) -> None:
        """Send the message (OutputPluginWrite); ``last_write``: it is the last one of this callback."""
        if not self._prepared:
            raise ServerError("XX000", "OutputPluginPrepareWrite needs to be called before OutputPluginWrite")
        self._prepared = False
        self._writer(self.write_location, self.write_xid, self.out.take(), last_write)

    def update_progress(self, skipped_xact: bool = False) -> None:
        """Report progress to the reader (OutputPluginUpdateProgress), which nobody waits for here."""

    def text(self, relation: Relation, column: Column, row: Tuple) -> str | None:
        """Return a column as text; None for NULL and for an unchanged value that the log leaves out."""
        value = row.values[column.number]
        if value is None or value is UNCHANGED:
            return None
        return self.values.text(relation.version, column.type, value)

    def binary(self, relation: Relation, column: Column, row: Tuple) -> bytes | None:
        """Return a column in binary form; None as for ``text``, and for a type without send function."""
        value = row.values[column.number]
        if value is None or value is UNCHANGED:
            return None
        return self.values.binary(relation.version, column.type, value)

    def warn(self, message: str) -> None:
        """ereport(WARNING)."""
        self.notices.append(f"WARNING: {message}")

    def origin_name(self, origin_id: int) -> str | None:
        """Return the name of a replication origin; None if it does not exist (any more)."""
        return self._origins.get(origin_id)

    def on_invalidation(self, callback: Callable[[Invalidation], None]) -> None:
        """Call ``callback`` when definitions change (CacheRegisterRelcacheCallback, CacheRegisterSyscacheCallback)."""
        self.invalidation_callbacks.append(callback)
