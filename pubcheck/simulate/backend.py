"""The state of one connection of a simulated server: its settings, its transaction, what is queued for later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor import Context
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.output import OutputContext
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.simulate.heap import Level, Snapshot, Transaction
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import Abort, Commit, Parked, R, Record, ServerState, park, unpark


class Result(Struct, frozen=True):
    """What a statement returns: names of columns, their types, rows of values.

    ``count`` is the number of rows that it returns or changes. ``in_order``: the order of the rows is known.
    """

    columns: tuple[str, ...] = ()
    types: tuple[int, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    count: int = 0
    changes_rows: bool = False
    in_order: bool = True


NOTHING = Result()
MOST_STEPS = 500_000
_SETTINGS = {"timezone": "UTC", "datestyle": "ISO, MDY", "intervalstyle": "postgres", "client_encoding": "UTF8"}


class Backend:
    """The state of a connection. ``catalog_session`` looks names up and runs DDL."""

    def __init__(self, database: ServerState, name: str) -> None:
        self.database = database
        self.name = name
        self.transaction: Transaction | None = None
        self.text = ""
        self.origin = 0
        self.origin_lsn = self.origin_time = 0
        self.sequence_values: dict[int, int] = {}
        self.last_sequence = 0
        self.prepared: dict[str, Any] = {}
        """The prepared statements (executor.prepared_statements)."""
        self.tables: dict[Any, Any] = {}
        """The tables as statements use them, for one version of the catalog (executor.tables)."""
        self.after: list[Any] = []
        """What runs after the current statement: row triggers, and checks and actions of foreign keys."""
        self.transitions: dict[tuple[int, str], Any] = {}
        """The transition tables of the current statement, by the oid of its table and the operation."""
        self.trigger_depth = 0
        self.views: set[int] = set()
        """The views whose queries are being planned."""
        self.variables: Any = None
        """The query level of the variables of the block that is running."""
        self.running: Snapshot | None = None
        self.steps = 0
        """The rows and the turns of loops of the statement that is running."""
        self._parked: Parked = []
        self._settings: dict[str, Any] = {}
        database.activate(self)
        self.catalog_session = Session(database.catalog, complete=True)
        for key, value in _SETTINGS.items():
            self.catalog_session.set(key, value)
        database.versions.journal_cleared()
        settings = database.catalog.settings
        self.inputs = InputContext(database.major, self.catalog_session.syscache, lambda key: settings.get(key.lower()))

        self.output = OutputContext(
            database.major, self.catalog_session.syscache, lambda key: settings.get(key.lower())
        )

    @property
    def catalog(self) -> Any:
        return self.database.catalog

    def context(self) -> Context:
        return Context(self.inputs, locale="C.UTF-8", defaults=True)

    @contextmanager
    def inside(self, level: Any) -> Iterator[None]:
        """Run statements inside this query level instead of that of the variables; None for no level."""
        outer, self.variables = self.variables, level
        try:
            yield
        finally:
            self.variables = outer

    # Changing from one session to another.

    def park(self) -> None:
        """Undo uncommitted definitions and the session's settings, so that another session can run."""
        self._parked = park(self.database.catalog)
        settings = self.database.catalog.settings
        own = [key for key in settings if key.startswith("session ") or f"session {key}" in settings]
        self._settings = {key: settings[key] for key in own}
        for key in own:
            dict.__delitem__(settings, key)
        self.database.versions.note_change()

    def unpark(self) -> None:
        catalog = self.database.catalog
        dict.update(catalog.settings, self._settings)
        unpark(catalog, self._parked, catalog.journal.entries.append)
        if self._parked:
            self.database.versions.note_change()
        self._parked, self._settings = [], {}
        if hasattr(self, "catalog_session"):
            self.catalog_session.forget_path()

    def take_parked(self) -> Parked:
        """Hand over the uncommitted definitions of a session that is not active."""
        parked, self._parked = self._parked, []
        return parked

    @property
    def has_uncommitted_definitions(self) -> bool:
        is_definition = self.database.versions.is_definition
        return any(is_definition((entry[0], entry[1], entry[2])) for entry in self._parked)

    def refuse_failed(self) -> None:
        """Raise ServerError 25P02 in a transaction that an error ended."""
        if self.transaction is not None and self.transaction.failed:
            message = "current transaction is aborted, commands ignored until end of transaction block"
            raise ServerError("25P02", message)

    def end_failed(self) -> None:
        """End an implicit transaction after an error; a block stays open until the session ends it."""
        if self.transaction is None:
            return
        if self.transaction.implicit:
            self.rollback()
        else:
            self.fail()

    # Triggers and foreign keys.

    def fire_after(self) -> None:
        """Run what was queued by a statement, and what that queues in turn (AfterTriggerEndQuery)."""
        while self.after:
            events, self.after = self.after, []
            for event in events:
                self.run_event(event)

    def run_event(self, event: Any) -> None:
        """Run what was queued."""
        event()

    def run_parsed(self, name: str, node: Node, sql: str, data: str | None = None) -> Result:
        """Run a statement in the current transaction."""
        raise NotImplementedError

    # Transactions.

    def begin(self, *, implicit: bool = False) -> Transaction:
        self.transaction = Transaction(self.database.catalog.journal.mark(), implicit=implicit)
        if not implicit:
            self.catalog_session.begin()
        return self.transaction

    @property
    def current(self) -> Transaction:
        assert self.transaction is not None
        return self.transaction

    def xid(self) -> int:
        """The id of the current (sub)transaction, which is assigned now if it has none."""
        transaction, database = self.current, self.database
        is_first = not transaction.levels[-1].xid
        xid = database.xids.assign(transaction)
        if is_first and xid != transaction.top and transaction.top not in database.logged:
            # The outermost subtransaction's id is logged (XLOG_XACT_ASSIGNMENT). The record is the current one's, which
            # has no id yet where it is a deeper one.
            is_outermost = len(transaction.levels) == 2
            database.append(Record, 8, xid=xid if is_outermost else 0, top=transaction.top if is_outermost else 0)
            database.logged.add(transaction.top)
        return xid

    def top_xid(self) -> int:
        """The id of the top-level transaction, which is assigned now if it has none."""
        transaction = self.current
        if not transaction.top:
            levels, transaction.levels = transaction.levels, transaction.levels[:1]
            self.xid()
            transaction.levels = levels
        return transaction.top

    def append(self, record: type[R], size: int, *, xid: int | None = None, **fields: Any) -> R:
        """Append a record of the current (sub)transaction, or of ``xid``, to the log."""
        xid = self.xid() if xid is None else xid
        top = self.current.top if xid else 0
        return self.database.append(record, size, xid=xid, top=top, origin=self.origin, **fields)

    def transaction_time(self) -> int:
        """The time at which the transaction began."""
        transaction = self.current
        if transaction.timestamp is None:
            transaction.timestamp = self.database.time()
        return transaction.timestamp

    def statement_snapshot(self) -> Snapshot:
        """The snapshot of the statement that is running."""
        if self.running is None:
            self.running = self.snapshot()
        return self.running

    @property
    def command(self) -> int:
        """The number of the command of the statement that is running."""
        return self.current.command if self.running is None else self.running.command

    def snapshot(self) -> Snapshot:
        transaction, ids = self.current, self.database.xids
        horizon = ids.commits
        if transaction.isolation:
            if transaction.horizon is None:
                transaction.horizon = ids.commits
            horizon = transaction.horizon
        return Snapshot(ids.states, transaction, horizon)

    def oldest_xid(self) -> int:
        """The oldest transaction whose effects somebody may not see yet (ComputeXidHorizons)."""
        transactions = (session.transaction for session in self.database.sessions.values())
        horizons = [item.horizon for item in transactions if item is not None and item.horizon is not None]
        return self.database.xids.oldest(min(horizons, default=None))

    def spend_step(self) -> None:
        """Count a row or the turn of a loop. Raises NotFollowed if a statement has too many."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise NotFollowed(f"more than {MOST_STEPS:,} rows and turns of loops in one statement")

    def increment_command(self) -> None:
        """CommandCounterIncrement."""
        if self.transaction is not None:
            self.transaction.command += 1

    def commit(self) -> None:
        transaction = self.current
        self.run_deferred_at_end()
        if self.transaction is not transaction:
            return
        catalog_session, level = self.catalog_session, transaction.levels[0]
        self._end_of_catalog_transaction()
        catalog_session.commit()
        self.database.versions.journal_cleared()
        self.transaction = None
        if not level.xid:
            return
        ids = self.all_ids(transaction)
        self.database.xids.commit(ids)
        time = self.database.time()
        self.database.append(
            Commit,
            60,
            xid=level.xid,
            top=level.xid,
            origin=self.origin,
            time=time,
            subtransactions=tuple(ids[1:]),
            **self.origin_position(),
            gid=transaction.gid,
        )
        if not self.origin or not self.origin_time:
            self.origin_time = time  # for later transactions (RecordTransactionCommit)

    def _end_of_catalog_transaction(self) -> None:
        """Raise NotFollowed if another open transaction has uncommitted definitions too."""
        journal, versions = self.database.catalog.journal, self.database.versions
        if any(map(versions.is_definition, journal.entries)):
            self.refuse_concurrent_definitions()

    def refuse_concurrent_definitions(self) -> None:
        for other in self.database.sessions.values():
            if other is not self and other.has_uncommitted_definitions:
                raise NotFollowed("two transactions that are open at the same time change definitions")

    def all_ids(self, transaction: Transaction) -> list[int]:
        ids = transaction.levels[0].ids()
        for level in transaction.levels[1:]:
            ids += level.ids()
        return ids

    def origin_position(self) -> dict[str, Any]:
        """The position and time of the remote transaction, as the session set them."""
        if not self.origin:
            return {}
        return {"origin_lsn": self.origin_lsn, "origin_time": self.origin_time}

    def is_deferred(self, constraint: str, initially: bool) -> bool:
        """Whether a deferrable constraint is deferred now."""
        timings = self.current.timings
        return timings.get(constraint, timings.get("", initially))

    def defer(self, constraint: str, event: Any) -> None:
        """Queue the check of a deferred constraint."""
        self.current.deferred.append((constraint, event))

    def run_deferred(self, names: Sequence[str] = ()) -> None:
        """Check deferred constraints: those of these names, or all."""
        transaction = self.current
        while True:
            chosen: list[Any] = []
            kept: list[tuple[str, Any]] = []
            for constraint, event in transaction.deferred:
                if not names or constraint in names:
                    chosen.append(event)
                else:
                    kept.append((constraint, event))
            if not chosen:
                return
            transaction.deferred = kept
            for event in chosen:
                self.run_event(event)
                self.fire_after()

    def run_deferred_at_end(self) -> None:
        """Check deferred constraints at the end of a transaction, which ends also if one is violated.

        Open subtransactions are released before: what triggers write belongs to the transaction itself.
        """
        if len(self.current.levels) > 1:
            self.release(1)
        try:
            self.run_deferred()
        except ServerError:
            self.rollback()
            raise

    def fail(self) -> None:
        """An error: the current level is undone at once, and the block waits for its end (AbortCurrentTransaction)."""
        transaction = self.current
        if not transaction.failed:
            self._undo_level(len(transaction.levels) - 1)
            transaction.failed = True

    def rollback(self) -> None:
        """Roll back the transaction."""
        transaction = self.current
        if not transaction.failed or len(transaction.levels) > 1:
            self._undo_level(0)
        self.transaction = None
        self.catalog_session.rollback()
        self.database.versions.journal_cleared()

    def _undo_level(self, number: int) -> None:
        """Undo the levels from ``number`` on, and log their end."""
        transaction, database = self.current, self.database
        levels = transaction.levels[number:]
        ids = [xid for level in levels for xid in level.ids()]
        database.catalog.journal.undo(levels[0].mark)
        database.catalog.journal.undone.clear()
        self.catalog_session.forget_path()
        del transaction.deferred[levels[0].deferred :]
        database.xids.abort(ids)
        transaction.ids.difference_update(ids)
        top = transaction.top
        # Each subtransaction that is open is ended by itself, the innermost first; those of a prepared one together.
        ends = [ids] if transaction.gid else [level.ids() for level in reversed(levels)]
        for level in levels:
            level.kept, level.xid = [], 0
        for xid, *subtransactions in filter(None, ends):
            database.append(
                Abort,
                60,
                xid=xid,
                top=top,
                origin=self.origin,
                time=database.time(),
                subtransactions=tuple(subtransactions),
                gid=transaction.gid,
                **(self.origin_position() if transaction.gid else {}),
            )

    def savepoint(self, name: str) -> None:
        transaction = self.current
        transaction.levels.append(self._level(name))
        self.catalog_session.savepoint(name)

    def release(self, number: int) -> None:
        """RELEASE: the levels from ``number`` on become part of the one before."""
        transaction = self.current
        into = transaction.levels[number - 1]
        for level in transaction.levels[number:]:
            into.kept += level.ids()
        del transaction.levels[number:]

    def rollback_to(self, number: int) -> None:
        """ROLLBACK TO: the levels from ``number`` on are undone, and the first of them begins again."""
        transaction = self.current
        if not (transaction.failed and number == len(transaction.levels) - 1):
            self._undo_level(number)
        name, transaction.timings = transaction.levels[number].name, transaction.levels[number].timings
        del transaction.levels[number:]
        transaction.failed = False
        transaction.levels.append(self._level(name))

    def _level(self, name: str) -> Level:
        transaction = self.current
        return Level(name, self.database.catalog.journal.mark(), len(transaction.deferred), transaction.timings)
