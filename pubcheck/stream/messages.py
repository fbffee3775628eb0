"""The messages of the logical replication protocol, versions 1 to 4, under the names of PostgreSQL's documentation.

Positions (LSN) and times are integers: bytes of WAL, and microseconds since 2000-01-01 00:00 UTC. `format_lsn` and
`format_time` show them as PostgreSQL does. Texts are decoded as UTF-8; a byte that is not UTF-8 becomes a surrogate
(PEP 383), so encoding a message gives the same bytes again.

``xid`` of Relation, Type, Insert, Update, Delete, Truncate and Message is the transaction or subtransaction that made
the change. The server sends it only between Stream Start and Stream Stop; elsewhere it is None.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, TypeAlias

from msgspec import Struct


class UnchangedToast(Enum):
    """The type of `UNCHANGED_TOAST`."""

    UNCHANGED_TOAST = "u"

    def __repr__(self) -> str:
        return "UNCHANGED_TOAST"


UNCHANGED_TOAST: Final = UnchangedToast.UNCHANGED_TOAST
"""A value stored out of line that an UPDATE left alone. The server does not send it."""

Value: TypeAlias = str | bytes | Literal[UnchangedToast.UNCHANGED_TOAST] | None
"""A column's value: text as str, binary as bytes, NULL as None, or `UNCHANGED_TOAST`."""

Row: TypeAlias = tuple[Value, ...]


class Begin(Struct, frozen=True, gc=False):
    """The start of a transaction. ``final_lsn`` is where its commit record begins."""

    final_lsn: int
    commit_time: int
    xid: int


class Message(Struct, frozen=True, gc=False):
    """A message of pg_logical_emit_message."""

    transactional: bool
    lsn: int
    prefix: str
    content: bytes
    xid: int | None = None


class Commit(Struct, frozen=True, gc=False):
    """The end of a transaction."""

    commit_lsn: int
    end_lsn: int
    commit_time: int


class Origin(Struct, frozen=True, gc=False):
    """The replication origin of a transaction. ``lsn`` is the position of the commit on the origin."""

    lsn: int
    name: str


class Column(Struct, frozen=True, gc=False):
    """A column of a Relation. ``key`` is true if it is part of the replica identity."""

    name: str
    type_oid: int
    type_modifier: int = -1
    key: bool = False


class Relation(Struct, frozen=True, gc=False):
    """A table whose changes follow. ``namespace`` is empty for pg_catalog. ``replica_identity`` is pg_class's letter:
    d (default), n (nothing), f (full) or i (index)."""

    oid: int
    namespace: str
    name: str
    replica_identity: str
    columns: tuple[Column, ...]
    xid: int | None = None


class Type(Struct, frozen=True, gc=False):
    """A type that is not built in. For a domain, the names are those of its base type."""

    oid: int
    namespace: str
    name: str
    xid: int | None = None


class Insert(Struct, frozen=True, gc=False):
    """A new row of the relation with the OID ``relation``."""

    relation: int
    new: Row
    xid: int | None = None


class Update(Struct, frozen=True, gc=False):
    """A changed row. ``old`` is its replica identity before the change, and ``old_kind`` says in which form: ``K`` (the
    columns of the key; the others are None) or ``O`` (the whole row). Both are None where the server sends no old
    row."""

    relation: int
    new: Row
    old: Row | None = None
    old_kind: Literal["K", "O"] | None = None
    xid: int | None = None


class Delete(Struct, frozen=True, gc=False):
    """A deleted row. ``old`` and ``old_kind`` are those of `Update`."""

    relation: int
    old: Row
    old_kind: Literal["K", "O"]
    xid: int | None = None


class Truncate(Struct, frozen=True, gc=False):
    """A TRUNCATE of the relations with these OIDs."""

    relations: tuple[int, ...]
    cascade: bool = False
    restart_identity: bool = False
    xid: int | None = None


class StreamStart(Struct, frozen=True, gc=False):
    """The start of a block of changes of a transaction in progress."""

    xid: int
    first_segment: bool


class StreamStop(Struct, frozen=True, gc=False):
    """The end of the block."""


class StreamCommit(Struct, frozen=True, gc=False):
    """The commit of a streamed transaction."""

    xid: int
    commit_lsn: int
    end_lsn: int
    commit_time: int


class StreamAbort(Struct, frozen=True, gc=False):
    """The rollback of a streamed transaction or, if ``subxid`` differs from ``xid``, of a subtransaction of it.
    Position and time are sent only with ``streaming = parallel``, and are None otherwise."""

    xid: int
    subxid: int
    abort_lsn: int | None = None
    abort_time: int | None = None


class BeginPrepare(Struct, frozen=True, gc=False):
    """The start of a prepared transaction."""

    prepare_lsn: int
    end_lsn: int
    prepare_time: int
    xid: int
    gid: str


class Prepare(Struct, frozen=True, gc=False):
    """The PREPARE TRANSACTION at the end of a prepared transaction."""

    prepare_lsn: int
    end_lsn: int
    prepare_time: int
    xid: int
    gid: str


class CommitPrepared(Struct, frozen=True, gc=False):
    """A COMMIT PREPARED."""

    commit_lsn: int
    end_lsn: int
    commit_time: int
    xid: int
    gid: str


class RollbackPrepared(Struct, frozen=True, gc=False):
    """A ROLLBACK PREPARED."""

    prepare_end_lsn: int
    rollback_end_lsn: int
    prepare_time: int
    rollback_time: int
    xid: int
    gid: str


class StreamPrepare(Struct, frozen=True, gc=False):
    """The PREPARE TRANSACTION of a streamed transaction."""

    prepare_lsn: int
    end_lsn: int
    prepare_time: int
    xid: int
    gid: str


AnyMessage: TypeAlias = (
    Begin
    | Message
    | Commit
    | Origin
    | Relation
    | Type
    | Insert
    | Update
    | Delete
    | Truncate
    | StreamStart
    | StreamStop
    | StreamCommit
    | StreamAbort
    | BeginPrepare
    | Prepare
    | CommitPrepared
    | RollbackPrepared
    | StreamPrepare
)


class Malformed(ValueError):
    """Bytes that are not a message. ``offset`` counts from the start of the message, ``expected`` says what the
    protocol requires there, and ``truncated`` whether the bytes end too early."""

    def __init__(self, offset: int, expected: str, actual: str, *, truncated: bool = False) -> None:
        super().__init__(f"byte {offset}: expected {expected}, got {actual}")
        self.offset = offset
        self.expected = expected
        self.actual = actual
        self.truncated = truncated
