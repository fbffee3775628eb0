"""Changes of single rows: checked, stored, entered into unique indexes, logged (heapam.c, execIndexing.c)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.row_locks import NO_KEY_UPDATE, UPDATE, keep, take
from pubcheck.simulate.executor.row_text import failing_row, key_text
from pubcheck.simulate.executor.tables import Exclusion, Table, Unique
from pubcheck.simulate.executor.toast import CHUNK, THRESHOLD, store
from pubcheck.simulate.heap import ABORTED, IN_PROGRESS, Key, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import UNCHANGED, Record, RowChange, Tuple

Values = dict[int, Any]


def compute_generated(table: Table, values: Values) -> None:
    """Set the stored generated columns of a row (ExecComputeStoredGenerated)."""
    for number, expression in table.generated:
        values[number] = expression(values)


def check_constraints(table: Table, values: Values) -> None:
    """NOT NULL and CHECK (ExecConstraints). Raises ServerError 23502, 23514."""
    name = table.relation.name
    for column in table.not_null:
        if values.get(column.number) is None and column.generated != "v":
            raise ServerError(
                "23502",
                f'null value in column "{column.name}" of relation "{name}" violates not-null constraint',
                detail=failing_row(table, values),
            )
    for check in table.checks:
        if check.holds(values) is False:
            raise ServerError(
                "23514",
                f'new row for relation "{name}" violates check constraint "{check.name}"',
                detail=failing_row(table, values),
            )


def insert_version(
    session: Backend,
    table: Table,
    values: Values,
    *,
    speculative: bool = False,
    rewrite: bool = False,
    joined: bool = False,
) -> Version:
    """Store and log a new row, and enter it into the indexes. Raises ServerError 23505."""
    xid = session.xid()
    note_temporary(session, table)
    version = Version(values, 0, xid, session.command)
    version.table = table.oid
    chunks = store(table, version, None)
    begins_page = table.storage.place(version, session.name)
    if table.logged:
        new = Tuple(version, version.size, chunks)
        joined = joined and not begins_page
        log_row(session, table, "insert", None, new, speculative=speculative, rewrite=rewrite, joined=joined)
    enter(session, table, version, None)
    return version


def update_version(session: Backend, table: Table, old: Version, values: Values) -> Version:
    """Store and log the new version of a row."""
    xid, command = session.xid(), session.command
    note_temporary(session, table)
    version = Version(values, 0, xid, command)
    changed = changed_columns(old, values)
    keep(session, old, version)
    take(session, old, UPDATE if changed & table.key_columns else NO_KEY_UPDATE)
    version.table = table.oid
    compressed = {number: size for number, size in old.compressed.items() if values.get(number) is old.get(number)}
    full_size = table.layout.size(version, compressed)
    chunks = store(table, version, old)
    if table.logged and (old.external or full_size > THRESHOLD or not table.storage.fits_on_page_of(old, version.size)):
        # The row is locked while the new version is made elsewhere (heap_update).
        session.append(Record, 14)
    table.storage.place(version, session.name, old)
    if version.place[0] == old.place[0] and not changed & table.indexed:
        version.root = old.root
    if table.logged:
        logged_new: Any = version
        kept = [number for number in version.external if number not in changed and number in old.external]
        if kept:
            logged_new = {number: UNCHANGED if number in kept else value for number, value in version.items()}
        old_tuple = logged_old(table, old, changed)
        removed = [number for number in old.external if number not in version.external or number in changed]
        new_tuple = Tuple(logged_new, version.size, chunks)
        log_row(session, table, "update", old_tuple, new_tuple, removed_chunks=chunk_count(old, removed))
    old.xmax, old.cmax, old.successor = xid, command, version
    enter(session, table, version, old)
    return version


def delete_version(session: Backend, table: Table, old: Version) -> None:
    take(session, old, UPDATE)
    xid = session.xid()
    if table.logged:
        removed = chunk_count(old, old.external)
        log_row(session, table, "delete", logged_old(table, old, None), None, removed_chunks=removed)
    old.xmax, old.cmax, old.successor = xid, session.command, None
    table.storage.note_deleted(old, xid)


def note_temporary(session: Backend, table: Table) -> None:
    """A transaction that used temporary tables cannot be prepared."""
    if table.relation.persistence == "t":
        session.current.used_temporary = True


def log_row(
    session: Backend,
    table: Table,
    operation: Any,
    old: Tuple | None,
    new: Tuple | None,
    *,
    removed_chunks: int = 0,
    **flags: bool,
) -> None:
    """Log the change of a row. ``flags`` are those of a RowChange."""
    session.append(
        RowChange,
        removed_chunks + sum(part.size + sum(part.chunks) for part in (old, new) if part is not None),
        operation=operation,
        relation=table.oid,
        version=session.database.version(),
        old=old,
        new=new,
        removed_chunks=removed_chunks,
        **flags,
    )


def chunk_count(version: Version, numbers: Iterable[int]) -> int:
    """The TOAST chunks of columns of a version."""
    return sum(-((4 - version.external[number]) // CHUNK) for number in numbers)


def changed_columns(old: Version, values: Values) -> set[int]:
    """The columns whose stored form an UPDATE changes (HeapDetermineColumnsInfo: datumIsEqual).

    A value that is computed again is another one, if the old is compressed or out of line.
    """
    changed = set()
    for number, value in values.items():
        former = old.get(number)
        if value is former:
            continue
        if number in old.external or number in old.compressed or not same_form(former, value):
            changed.add(number)
    return changed


def same_form(former: Any, value: Any) -> bool:
    """Whether two values are stored alike."""
    if type(former) is not type(value):
        return False
    if type(value) in (int, str, bytes, bool):
        return bool(former == value)
    return bool(_parts(former) == _parts(value))


def _parts(value: Any) -> Any:
    """What tells stored values apart: the digits of a numeric too, which compare as equal."""
    slots = getattr(type(value), "__slots__", ())
    return [repr(getattr(value, name)) for name in slots] if isinstance(slots, tuple) and slots else repr(value)


def logged_old(table: Table, old: Version, changed: set[int] | None) -> Tuple | None:
    """The old row as the replica identity logs it (ExtractReplicaIdentity); ``changed`` is None for DELETE."""
    identity = table.identity
    flat = {**old.compressed, **old.external}
    if identity.full:
        return Tuple(old, table.layout.size(old, flat) if old.external else old.size)
    if not identity.columns:
        return None
    if changed is not None and not any(n in changed or n in old.external for n in identity.columns):
        return None
    key = {number: value if number in identity.columns else None for number, value in old.items()}
    return Tuple(key, table.layout.size(key, flat))


# Unique indexes.


def enter(session: Backend, table: Table, version: Version, old: Version | None) -> None:
    """Add a version to the heap and its indexes. Raises ServerError 23505 for a duplicate (_bt_check_unique), 23P01 for
    what an exclusion constraint does not allow."""
    storage = table.storage
    exclusions = iter(table.exclusions)
    exclusion = next(exclusions, None)
    for unique in table.uniques:
        while exclusion is not None and exclusion.index.oid < unique.index.oid:
            refuse_excluded(session, table, exclusion, version)
            exclusion = next(exclusions, None)
        index = storage.index(unique.index.oid, unique.key_of)
        key = index.key_of(version)
        if key is None:
            continue
        if unique.constraint is not None:
            if len(index.at(key)) > (old is not None and index.key_of(old) == key):
                queue_check(session, table, unique, version, key)
        elif old is not None and index.key_of(old) == key:
            continue  # the only row with that key is the old one
        elif conflicting(session, index.at(key), version):
            raise duplicate(session, table, unique, version)
    while exclusion is not None:
        refuse_excluded(session, table, exclusion, version)
        exclusion = next(exclusions, None)
    storage.add(version)
    if storage.is_crowded:
        storage.forget_dead(session.database.xids.states, session.oldest_xid())


def refuse_excluded(session: Backend, table: Table, exclusion: Exclusion, version: Version) -> None:
    """Raise ServerError 23P01 for a row that an exclusion constraint does not allow next to another; queue the check if
    the constraint is deferrable."""
    if exclusion.without_overlaps and exclusion.has_empty_range(version):
        column = table.relation.columns[exclusion.index.keys[-1] - 1].name
        message = f'empty WITHOUT OVERLAPS value found in column "{column}" in relation "{table.relation.name}"'
        raise ServerError("23514", message)
    other = excluded_by(session, table, exclusion, version, version)
    if other is None:
        return
    if exclusion.constraint is None:
        raise exclusion_error(table, exclusion, version, other)

    def check() -> None:
        latest = latest_of(session, version)
        if latest is not None:
            other = excluded_by(session, table, exclusion, latest, latest)
            if other is not None:
                raise exclusion_error(table, exclusion, latest, other)

    if session.is_deferred(exclusion.name, exclusion.constraint.deferred):
        session.defer(exclusion.name, check)
    else:
        session.after.append(check)


def excluded_by(
    session: Backend, table: Table, exclusion: Exclusion, values: Values, version: Version | None
) -> Version | None:
    """The live row with which a new one conflicts; ``version`` is the new one if it is stored."""
    return conflicting(session, list(exclusion.conflicts(values, table.storage.versions)), version)


def exclusion_error(table: Table, exclusion: Exclusion, values: Any, other: Version) -> ServerError:
    keys = exclusion.index.keys
    shown = None if exclusion.index.expressions else (key_text(table, keys, values), key_text(table, keys, other))
    return ServerError(
        "23P01",
        f'conflicting key value violates exclusion constraint "{exclusion.name}"',
        detail=None if shown is None else f"Key {shown[0]} conflicts with existing key {shown[1]}.",
    )


def conflicting(session: Backend, versions: list[Version], version: Version | None) -> Version | None:
    """The live row among versions with the same key, as a dirty snapshot sees it. Raises NotFollowed where the server
    would wait for another transaction."""
    states, ids = session.database.xids.states, session.current.ids
    for other in versions:
        if other is version:
            continue
        state = states[other.xmin]
        if state == ABORTED:
            continue
        if state == IN_PROGRESS and other.xmin not in ids:
            raise NotFollowed("the statement waits for another transaction")
        if other.xmax:
            state = states[other.xmax]
            if state > 0 or other.xmax in ids:
                continue
            if state == IN_PROGRESS:
                raise NotFollowed("the statement waits for another transaction")
        return other
    return None


def duplicate(session: Backend, table: Table, unique: Unique, version: Version) -> ServerError:
    # Of an index over expressions the detail shows their source text, which is not written here.
    shown = None if unique.index.expressions else key_text(table, unique.index.keys, version)
    return ServerError(
        "23505",
        f'duplicate key value violates unique constraint "{unique.name}"',
        detail=None if shown is None else f"Key {shown} already exists.",
    )


def latest_of(session: Backend, version: Version) -> Version | None:
    """The version that a row has now; None if it was deleted."""
    latest = version
    while latest.xmax and session.database.xids.states[latest.xmax] != ABORTED:
        if latest.successor is None:
            return None
        latest = latest.successor
    return latest


def queue_check(session: Backend, table: Table, unique: Unique, version: Version, key: Key) -> None:
    """Queue the check of a deferrable unique constraint, which is made when the statement or the transaction ends
    (unique_key_recheck)."""
    assert unique.constraint is not None

    def check() -> None:
        latest = latest_of(session, version)
        if latest is None:
            return
        index = table.storage.index(unique.index.oid, unique.key_of)
        if index.key_of(latest) == key and conflicting(session, index.at(key), latest):
            raise duplicate(session, table, unique, latest)

    if session.is_deferred(unique.name, unique.constraint.deferred):
        session.defer(unique.name, check)
    else:
        session.after.append(check)
