"""The facts that only a running server knows: limits in use, slots and their readers, subscriptions, statistics.

A snapshot has none of them except, if asked for, statistics without values of the tables: slots and workers change from
minute to minute, and a file that CI compares must not.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class Settings(Struct, frozen=True, kw_only=True):
    """Parameters of the server. Sizes are in bytes; ``max_slot_wal_keep_size`` is None without a limit."""

    wal_level: str
    max_replication_slots: int
    max_wal_senders: int
    max_logical_replication_workers: int
    max_slot_wal_keep_size: int | None
    max_wal_size: int


class Usage(Struct, frozen=True, kw_only=True):
    """The parts of the server's limits that are in use, in all databases.

    ``waiting_subscriptions`` are enabled ones that have no worker.
    """

    slots: int
    wal_senders: int
    subscription_workers: int
    waiting_subscriptions: tuple[str, ...] = ()


class Reader(Struct, frozen=True, kw_only=True):
    """The publications that the reader of a slot asks for.

    ``subscription`` is None where a running walsender was asked for them: then they are certain. Otherwise it is the
    subscription of this cluster that has a slot of this name, perhaps on another server.
    """

    publications: tuple[str, ...]
    subscription: str | None = None


class Slot(Struct, frozen=True, kw_only=True):
    """A logical slot of this database.

    ``held`` is the WAL since its restart_lsn and ``unconfirmed`` that since its confirmed_flush_lsn, in bytes, None
    where it has none. ``safe`` is safe_wal_size. ``catalog_age`` counts the transactions since its catalog_xmin.
    ``inactive_since`` is known from 17 on. ``reader`` is None if nothing shows which publications are asked for.
    """

    name: str
    plugin: str
    active: bool
    temporary: bool = False
    wal_status: str | None = None
    held: int | None = None
    unconfirmed: int | None = None
    safe: int | None = None
    catalog_age: int | None = None
    inactive_since: str | None = None
    invalidation_reason: str | None = None
    reader: Reader | None = None

    @property
    def lost(self) -> bool:
        return self.wal_status == "lost"

    @property
    def has_known_reader(self) -> bool:
        """Whether a running walsender shows what its reader asks for."""
        return self.reader is not None and self.reader.subscription is None

    @property
    def may_read_publications(self) -> bool:
        """Whether its plugin publishes by publications. Only those that are known not to are excluded."""
        return self.plugin not in PLUGINS_WITHOUT_PUBLICATIONS


PLUGINS_WITHOUT_PUBLICATIONS = frozenset(("test_decoding", "wal2json", "decoderbufs", "pglogical_output"))
"""Output plugins that decode every table, or have replication sets of their own."""


class SubscriptionTable(Struct, frozen=True):
    """A table that a subscription has not synchronized: its name and srsubstate."""

    table: str
    state: str


class SubscriptionState(Struct, frozen=True, kw_only=True):
    """A subscription of this database. ``conflicts`` are counted from 18 on; ``running``: it has an apply worker."""

    name: str
    enabled: bool
    running: bool = False
    disable_on_error: bool = False
    apply_errors: int = 0
    sync_errors: int = 0
    conflicts: int = 0
    counted_since: str | None = None
    not_ready: tuple[SubscriptionTable, ...] = ()


class TableStatistics(Struct, frozen=True, kw_only=True):
    """The counters of a table with REPLICA IDENTITY FULL.

    ``rows`` are live rows, ``size`` the bytes of the table and its TOAST table when it was last analysed. ``updates``
    and ``deletes`` were counted in the last ``seconds``.
    """

    table: str
    rows: int
    size: int
    updates: int
    deletes: int
    seconds: Annotated[int, Meta(ge=1)]


class ColumnStatistics(Struct, frozen=True, kw_only=True):
    """The row of pg_stats of a column that a row filter reads.

    It holds values of the table, so it is in no snapshot. ``distinct`` is n_distinct: a number of values, or negated
    the share of the rows.
    """

    table: str
    column: str
    rows: float
    nulls: float
    distinct: float
    values: tuple[str, ...] = ()
    frequencies: tuple[float, ...] = ()
    bounds: tuple[str, ...] = ()


class PublishedShare(Struct, frozen=True, kw_only=True):
    """Bounds of the share of a table's rows for which the filter of a membership is true, and false, by the statistics
    of about ``rows`` rows."""

    publication: str
    table: str
    rows: float
    true: tuple[float, float]
    false: tuple[float, float]


class Statistics(Struct, frozen=True, kw_only=True):
    """Statistics of a database. ``columns`` hold values of tables; a snapshot in a file has ``shares`` instead."""

    tables: tuple[TableStatistics, ...] = ()
    columns: tuple[ColumnStatistics, ...] = ()
    shares: tuple[PublishedShare, ...] = ()

    def columns_by_table(self) -> dict[str, dict[str, ColumnStatistics]]:
        """Return the statistics of columns by table and name."""
        tables: dict[str, dict[str, ColumnStatistics]] = {}
        for row in self.columns:
            tables.setdefault(row.table, {})[row.column] = row
        return tables


class ServerFacts(Statistics, frozen=True, kw_only=True):
    """The facts about a server and one of its databases.

    ``publication_ages``: by publication, the number of transactions since the oldest trace of it, at most its true age.
    """

    settings: Settings
    usage: Usage
    slots: tuple[Slot, ...] = ()
    publication_ages: dict[str, int] = {}
    subscriptions: tuple[SubscriptionState, ...] = ()
