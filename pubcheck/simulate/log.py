"""The write-ahead log, as far as logical decoding reads it: the only thing that passes from executor to decoding.

A record has the id of the transaction that wrote it, which is that of a subtransaction within a savepoint. Ids are
assigned at a transaction's first write, a parent's before its child's (access/transam/xact.c: AssignTransactionId).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.journaled_dict import ABSENT
from pubcheck.postgres.replication.row_changes import UNCHANGED

__all__ = ["UNCHANGED"]


class Tuple(Struct, frozen=True, gc=False):
    """A logged row. ``values`` are the executor's values by column number, None for NULL, ``UNCHANGED`` for a value out
    of line that the record leaves out. ``size`` is its length in bytes with the header (HeapTuple's t_len);
    decoding counts its memory by it. ``chunks`` are the lengths of the data in the TOAST chunks that were logged for it
    before it.
    """

    values: Mapping[int, object]
    size: int
    chunks: tuple[int, ...] = ()


class CatalogVersion(Struct, frozen=True, gc=False):
    """The catalog as a record's transaction sees it: its own definitions and those committed so far. Never changes.

    ``number`` counts versions: two records with the same number saw the same catalog.
    """

    number: int
    catalog: Catalog


class Record(Struct, frozen=True, kw_only=True):
    """A record of the log. ``start`` and ``end`` are its positions (LSN) in bytes; those of the next record are higher.

    The rows of a multi-insert (COPY) have the same ``start``. A row's TOAST chunks count as part of its record:
    ``end`` is more than ``start`` and the number of chunks. ``xid`` is the (sub)transaction, 0 for none; ``top`` its
    top-level transaction. ``origin`` is the id of the replication origin of the session that wrote it, 0 for none.

    A plain Record is any other record with a transaction id (nextval, a row of an unpublishable relation).
    """

    start: int
    end: int
    xid: int
    top: int
    origin: int = 0


class RowChange(Record, frozen=True, kw_only=True):
    """INSERT, UPDATE or DELETE of one row. ``old`` is what the replica identity logs: ``logged_change``.

    ``speculative``: INSERT ... ON CONFLICT, whose confirmation is logged too. ``rewrite``: a row of the new heap that
    ALTER TABLE writes, under the table's oid. ``removed_chunks``: the number of TOAST chunks of old values that are
    deleted with it, before an UPDATE and after a DELETE.
    """

    operation: Literal["insert", "update", "delete"]
    relation: int
    version: CatalogVersion
    old: Tuple | None = None
    new: Tuple | None = None
    speculative: bool = False
    rewrite: bool = False
    removed_chunks: int = 0


class Truncation(Record, frozen=True, kw_only=True):
    """TRUNCATE of relations that are logged, including the relations that CASCADE added.

    ``in_place`` are the relations without an index whose file the same transaction created: their definition does not
    change.
    """

    relations: tuple[int, ...]
    cascade: bool
    restart_identity: bool
    version: CatalogVersion
    in_place: frozenset[int] = frozenset()


class LogicalMessage(Record, frozen=True, kw_only=True):
    """pg_logical_emit_message."""

    transactional: bool
    prefix: str
    content: bytes
    version: CatalogVersion


Entry = tuple[str, object, object]
"""A row that changed: the catalog's table (an attribute of ``Catalog``), the key, the former row or None."""


def entries_since(catalog: Catalog, mark: int) -> tuple[Entry, ...]:
    """Return the rows that changed since a mark of the catalog's journal, in order."""
    names = {id(table): name for name, table in vars(catalog).items()}
    return tuple(
        (names[id(table)], key, None if former is ABSENT else former)
        for table, key, former in catalog.journal.entries[mark:]
        if id(table) in names
    )


class CatalogChange(Record, frozen=True, kw_only=True):
    """The end of a command that changed the catalog: ``entries`` as ``entries_since`` returns them, ``before`` and
    ``after`` it.

    Decoding finds out which cached relations it invalidates. ``statement`` is the parse node's name, ``node`` the
    statement. A statement that changes only what pubcheck's catalog does not keep (ANALYZE) has no entries; if it is
    TRUNCATE, ``new_files`` are the tables that it gives a new file.
    """

    statement: str
    node: Mapping[str, object]
    entries: tuple[Entry, ...] = ()
    before: CatalogVersion
    after: CatalogVersion
    new_files: frozenset[int] = frozenset()


class OriginChange(Record, frozen=True, kw_only=True):
    """A replication origin was created under this name, or, without one, dropped."""

    number: int
    name: str | None


class TransactionEnd(Record, frozen=True, kw_only=True):
    """``time`` is in microseconds since 2000-01-01; ``subtransactions`` are the ids of the ones that end with it.

    ``origin_lsn`` and ``origin_time`` are those of pg_replication_origin_xact_setup, 0 if there were none.
    """

    time: int
    subtransactions: tuple[int, ...] = ()
    origin_lsn: int = 0
    origin_time: int = 0
    gid: str | None = None


class Commit(TransactionEnd, frozen=True, kw_only=True):
    """COMMIT; ``gid`` is set for COMMIT PREPARED."""


class Abort(TransactionEnd, frozen=True, kw_only=True):
    """ROLLBACK, of a transaction or (``xid`` is not ``top``) a savepoint; ``gid`` is set for ROLLBACK PREPARED."""


class Prepare(TransactionEnd, frozen=True, kw_only=True):
    """PREPARE TRANSACTION."""

    gid: str


class Log(Struct):
    """All records in order, and the names of the replication origins that exist now, by id."""

    records: list[Record] = field(default_factory=list)
    origins: dict[int, str] = field(default_factory=dict)
