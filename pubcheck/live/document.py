"""The snapshot of a database's catalogs: a JSON document with one object a line, which is a source of a unit.

Names refer to objects: ``app.orders``, ``"Mixed Case".t``; a name without a schema is one of pg_catalog. Part of a
name that is not made of lower-case letters, digits and underscores is in double quotes. Fields with their usual value
are left out. Oids give the order in which the server looks at objects; nothing refers to them.

``snapshot.schema.json`` is generated from these types (``schema``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.live import queries, records
from pubcheck.live.connect import Connection
from pubcheck.live.records import AnyObject
from pubcheck.live.server_facts import (
    ColumnStatistics,
    Reader,
    ServerFacts,
    Settings,
    Slot,
    Statistics,
    SubscriptionState,
    SubscriptionTable,
    TableStatistics,
    Usage,
)
from pubcheck.postgres.tokens import ascii_lower, identifier
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.source import Listing, Source
from pubcheck.words import words

FORMAT = 1
"""The version of the format, in the field ``pubcheck_snapshot``."""


class Server(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The server and the database that were read."""

    postgres: int
    version: str
    database: str
    database_owner: str
    creators: tuple[str, ...] = ()
    """The roles with the right CREATE on the database, "" for PUBLIC."""
    encoding: str
    collate: str
    ctype: str
    wal_level: str
    collations: tuple[str, ...] = ()
    """The collations of pg_catalog, most of which depend on the machine."""
    search_path: str
    user_schema: str = ""
    """The schema that "$user" means in it for the role that read the server, if there is one."""
    settings: dict[str, str] = {}
    """Further settings with which a connection of that role begins."""


class Snapshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document. ``pubcheck`` is the version that wrote it. ``facts`` are those of a running server, for as long as
    a command runs: no snapshot in a file has them. ``statistics`` are in a file if they were asked for."""

    pubcheck_snapshot: int
    pubcheck: str
    server: Server
    objects: tuple[AnyObject, ...]
    facts: ServerFacts | None = None
    statistics: Statistics | None = None


class _Head(Struct):
    pubcheck_snapshot: int
    pubcheck: str = ""


class BadSnapshot(ValueError):
    """A document that cannot be read; the message says why, without its name."""


_ORDER = {kind.__struct_config__.tag: place for place, kind in enumerate(AnyObject.__args__)}
_encode = msgspec.json.Encoder().encode


def sorted_objects(objects: Iterable[AnyObject]) -> tuple[AnyObject, ...]:
    """Return objects in the order of the document: by kind, then by name."""
    return tuple(sorted(objects, key=lambda record: (_ORDER[record.__struct_config__.tag], record.key)))


def encode(snapshot: Snapshot) -> bytes:
    """Return the document, one object a line."""
    head = _encode({"pubcheck_snapshot": snapshot.pubcheck_snapshot, "pubcheck": snapshot.pubcheck})
    lines = b",\n".join(map(_encode, snapshot.objects))
    more = b',\n"facts": %b' % _encode(snapshot.facts) if snapshot.facts is not None else b""
    if snapshot.statistics is not None:
        tables, shares = (
            b",\n".join(map(_encode, rows)) for rows in (snapshot.statistics.tables, snapshot.statistics.shares)
        )
        more += b',\n"statistics": {"tables": [\n%b\n],"shares": [\n%b\n]}' % (tables, shares)
    return b'%b,\n"server": %b,\n"objects": [\n%b\n]%b}\n' % (head[:-1], _encode(snapshot.server), lines, more)


def schema() -> bytes:
    """Return the JSON Schema of the document."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Snapshot))) + b"\n"


FIRST_OBJECT = 3
"""The lines before the first object."""


def decode(content: bytes) -> Snapshot:
    """Return the snapshot in a document. Raises BadSnapshot."""
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.pubcheck_snapshot != FORMAT:
            by = f" by pubcheck {head.pubcheck}" if head.pubcheck else ""
            raise BadSnapshot(
                f"this snapshot was written{by} in format {head.pubcheck_snapshot}, and this version reads format"
                f" {FORMAT}; take it again with `pubcheck snapshot`"
            )
        snapshot = msgspec.json.decode(content, type=Snapshot)
    except msgspec.DecodeError as error:
        raise BadSnapshot(f"this is not a whole snapshot: {_with_line(' '.join(str(error).split()))}") from None
    if not _has_one_object_a_line(content, len(snapshot.objects)):
        raise BadSnapshot(
            "this snapshot was formatted by another program, and does not have one object a line any more; take it"
            " again with `pubcheck snapshot`"
        )
    return snapshot


def _with_line(message: str) -> str:
    """Return a message of msgspec with the line of the object that it is about."""
    place = _PLACE.search(message)
    return message if place is None else f"line {int(place[1]) + FIRST_OBJECT + 1}: {message}"


def _has_one_object_a_line(content: bytes, objects: int) -> bool:
    """Return whether the objects are on the lines on which findings look for them."""
    lines = content.split(b"\n", FIRST_OBJECT + objects)[FIRST_OBJECT : FIRST_OBJECT + objects]
    return len(lines) == objects and all(map(_OBJECT.fullmatch, lines))


def is_snapshot(content: bytes) -> bool:
    """Return whether a file is a snapshot, also one that another program formatted, sorted or recoded."""
    opening = content[:OPENING].replace(b"\0", b"")
    if _JSON.match(opening) is None:
        return False
    return _OPENING.match(opening) is not None or b'"pubcheck_snapshot"' in content.replace(b"\0", b"")


OPENING = 100
"""The bytes by which a snapshot is usually recognized."""
_JSON = lazy_compile(rb"\W*[{\[]")
_OPENING = lazy_compile(rb'\W*"pubcheck_snapshot"\s*:')
_PLACE = lazy_compile(r"\$\.objects\[(\d+)\]")
_OBJECT = lazy_compile(rb"\{.*\},?\r?")


# A snapshot as a source of a unit: each line is an object, and takes the place of the statement that creates it.


class SnapshotListing(Listing, frozen=True):
    """The objects of a snapshot."""

    snapshot: Snapshot | None = None


def source_of(label: str, text: str, *, live: bool) -> Source:
    """Return the source of a snapshot's text. ``live``: it was just read from a server. Raises BadSnapshot."""
    snapshot = decode(text.encode())
    return Source(label, text, listing=SnapshotListing(snapshot.objects, FIRST_OBJECT + 1, live, snapshot))


def snapshots(sources: Sequence[Source]) -> dict[int, Snapshot]:
    """Return the snapshots among the sources of a unit, by number."""
    return {
        number: source.listing.snapshot
        for number, source in enumerate(sources)
        if isinstance(source.listing, SnapshotListing) and source.listing.snapshot is not None
    }


def statistics_among(sources: Sequence[Source]) -> Statistics | None:
    """Return the statistics of the database that is one of the sources, with the facts of a running server."""
    known = (row.facts or row.statistics for row in snapshots(sources).values())
    return next((statistics for statistics in known if statistics is not None), None)


def statement(row: records.AnyObject) -> str:
    """Return an object as SQL, as far as reports and fixes show it."""
    if isinstance(row, records.PublicationTable):
        columns = f" ({', '.join(map(identifier, row.columns))})" if row.columns is not None else ""
        where = f" WHERE {row.filter}" if row.filter else ""
        return f"ALTER PUBLICATION {identifier(row.name)} ADD TABLE {row.table}{columns}{where}"
    if isinstance(row, records.PublicationSchema):
        return f"ALTER PUBLICATION {identifier(row.name)} ADD TABLES IN SCHEMA {identifier(row.schema)}"
    kind = row.__struct_config__.tag
    name = records.reference(row.schema, row.name) if isinstance(row, records.InSchema) else identifier(row.name)
    return f"CREATE {str(kind).upper()} {name}"


def read_snapshot(connection: Connection, version: str) -> Snapshot:
    """Return the snapshot of the connection's database; ``version`` is that of pubcheck. Raises LiveError."""
    ((server,),) = connection.rows(queries.server(connection.major))
    return Snapshot(
        pubcheck_snapshot=FORMAT,
        pubcheck=version,
        server=msgspec.json.decode(server, type=Server),
        objects=sorted_objects(_objects(connection)),
    )


def with_facts(connection: Connection, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with the facts of the server and the objects that they are about. Raises LiveError."""
    facts = read_facts(connection)
    settings = (records.Setting(name=name) for name in Settings.__struct_fields__)
    slots = (records.Slot(name=slot.name) for slot in facts.slots)
    return replace(snapshot, objects=sorted_objects((*snapshot.objects, *settings, *slots)), facts=facts)


def _objects(connection: Connection) -> Iterator[AnyObject]:
    decode = msgspec.json.Decoder(AnyObject).decode
    major = BY_NUMBER[connection.major]
    for query in queries.OBJECTS:
        for (text,) in connection.rows(query(major)):
            yield decode(text)


#
# The queries for a server's facts, which take one round trip together.
#
# They only need the privileges of PUBLIC. A role without pg_read_all_stats does not see what the walsenders of others
# ask for, nor the statistics of columns that it may not read: these facts are then missing.

_SETTINGS = f"SELECT name, setting FROM pg_settings WHERE name IN ({', '.join(map(repr, Settings.__struct_fields__))})"

_USAGE = """
SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_stat_replication),
    (SELECT count(*) FROM pg_stat_subscription WHERE pid IS NOT NULL),
    ARRAY(SELECT subname::text FROM pg_subscription s WHERE subenabled
        AND NOT EXISTS (SELECT FROM pg_stat_subscription w WHERE w.subid = s.oid AND w.pid IS NOT NULL) ORDER BY 1)"""

_SLOTS = """
SELECT s.slot_name::text, s.plugin::text, s.active, s.temporary, s.wal_status,
    pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)::bigint,
    pg_wal_lsn_diff(pg_current_wal_lsn(), s.confirmed_flush_lsn)::bigint,
    s.safe_wal_size, age(s.catalog_xmin), {since}, a.query
FROM pg_replication_slots s LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid
WHERE s.slot_type = 'logical' AND s.database = current_database() ORDER BY 1"""

_SUBSCRIBERS = """
SELECT subslotname::text, subname::text, subpublications FROM pg_subscription WHERE subslotname IS NOT NULL"""

# A publication's own row is a new one after ALTER PUBLICATION. Its members and its owner may have older rows.
_PUBLICATIONS = """
SELECT p.pubname::text, max(age(t.xid)) FROM pg_publication p JOIN (
    SELECT oid, xmin FROM pg_publication
    UNION ALL SELECT prpubid, xmin FROM pg_publication_rel
    UNION ALL SELECT pnpubid, xmin FROM pg_publication_namespace
    UNION ALL SELECT objid, xmin FROM pg_shdepend WHERE classid = 'pg_publication'::regclass
        AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())) t (oid, xid) USING (oid)
GROUP BY 1 ORDER BY 1"""

_SUBSCRIPTIONS = """
SELECT s.subname::text, s.subenabled,
    EXISTS (SELECT FROM pg_stat_subscription w WHERE w.subid = s.oid AND w.pid IS NOT NULL AND w.relid IS NULL),
    s.subdisableonerr, t.apply_error_count, {sync_errors}, {conflicts}, t.stats_reset::text
FROM pg_subscription s LEFT JOIN pg_stat_subscription_stats t ON t.subid = s.oid
WHERE s.subdbid = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY 1"""

_CONFLICTS = words("""
    confl_insert_exists confl_update_origin_differs confl_update_exists confl_update_missing
    confl_delete_origin_differs confl_delete_missing confl_multiple_unique_conflicts
""")

_NOT_READY = """
SELECT s.subname::text, n.nspname || '.' || c.relname, r.srsubstate::text
FROM pg_subscription_rel r JOIN pg_subscription s ON s.oid = r.srsubid
JOIN pg_class c ON c.oid = r.srrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.srsubstate <> 'r' ORDER BY 1, 2"""

# A counter that was never reset counts since the statistics of the whole cluster began.
_TABLES = """
SELECT n.nspname || '.' || c.relname, greatest(c.reltuples, s.n_live_tup)::bigint,
    (c.relpages + coalesce(t.relpages, 0))::bigint * current_setting('block_size')::int,
    s.n_tup_upd, s.n_tup_del, greatest(extract(epoch FROM now() - since.start), 1)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_stat_user_tables s ON s.relid = c.oid
LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
CROSS JOIN (SELECT coalesce(d.stats_reset, least(a.stats_reset, b.stats_reset, w.stats_reset)) AS start
    FROM pg_stat_database d, pg_stat_archiver a, pg_stat_bgwriter b, pg_stat_wal w
    WHERE d.datname = current_database()) since
WHERE c.relreplident = 'f' AND c.relkind = 'r' ORDER BY 1"""

# An array of arrays, or one with another delimiter, is not an array of texts. pg_stats is looked up column by column:
# joined as a whole it is read again for each one wherever the server underestimates their number.
_COLUMNS = """
SELECT n.nspname || '.' || c.relname, a.attname::text, c.reltuples, s.null_frac, s.n_distinct,
    s.most_common_vals::text::text[], s.most_common_freqs, s.histogram_bounds::text::text[]
FROM (SELECT DISTINCT d.refobjid, d.refobjsubid FROM pg_depend d WHERE d.classid = 'pg_publication_rel'::regclass
        AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0) read
JOIN pg_class c ON c.oid = read.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = read.refobjsubid
JOIN pg_type y ON y.oid = a.atttypid AND y.typcategory <> 'A' AND y.typdelim = ','
CROSS JOIN LATERAL (SELECT * FROM pg_stats p WHERE p.schemaname = n.nspname AND p.tablename = c.relname
    AND p.attname = a.attname AND p.inherited = (c.relkind = 'p') OFFSET 0) s
ORDER BY 1, 2"""


def read_facts(connection: Connection) -> ServerFacts:
    """Return the facts about the server of a connection and its database, in one round trip. Raises LiveError."""
    major = BY_NUMBER[connection.major]
    since = "s.inactive_since::text" if major.slot_invalidation else "NULL"
    reason = "s.invalidation_reason" if major.slot_invalidation else "NULL"
    conflicts = " + ".join(f"coalesce(t.{name}, 0)" for name in _CONFLICTS) if major.conflict_counts else "0"
    by_kind = major.sync_errors_by_kind
    sync_errors = "t.sync_table_error_count + t.sync_seq_error_count" if by_kind else "t.sync_error_count"
    settings, usage, slots, subscribers, publications, subscriptions, not_ready, tables, columns = connection.results(
        _SETTINGS,
        _USAGE,
        _SLOTS.format(since=f"{since}, {reason}"),
        _SUBSCRIBERS,
        _PUBLICATIONS,
        _SUBSCRIPTIONS.format(sync_errors=sync_errors, conflicts=conflicts),
        _NOT_READY,
        _TABLES,
        _COLUMNS,
    )
    [(used_slots, senders, workers, waiting)] = usage
    readers = {slot: Reader(publications=tuple(names), subscription=name) for slot, name, names in subscribers}
    return ServerFacts(
        settings=_settings(dict(settings)),
        usage=Usage(
            slots=used_slots, wal_senders=senders, subscription_workers=workers, waiting_subscriptions=tuple(waiting)
        ),
        slots=tuple(_slot(row, readers) for row in slots),
        publication_ages=dict(publications),
        subscriptions=tuple(_subscription(row, not_ready) for row in subscriptions),
        tables=tuple(_table(row) for row in tables),
        columns=tuple(_column(row) for row in columns),
    )


_MEGABYTE = 1 << 20


def _settings(values: dict[str, str]) -> Settings:
    keep = int(values["max_slot_wal_keep_size"])
    return Settings(
        wal_level=values["wal_level"],
        max_replication_slots=int(values["max_replication_slots"]),
        max_wal_senders=int(values["max_wal_senders"]),
        max_logical_replication_workers=int(values["max_logical_replication_workers"]),
        max_slot_wal_keep_size=None if keep < 0 else keep * _MEGABYTE,
        max_wal_size=int(values["max_wal_size"]) * _MEGABYTE,
    )


def _slot(row: Sequence[Any], readers: dict[str, Reader]) -> Slot:
    name, plugin, active, temporary, status, held, unconfirmed, safe, age, since, reason, query = row
    asked_for = requested_publications(query or "")
    return Slot(
        name=name,
        plugin=plugin,
        active=active,
        temporary=temporary,
        wal_status=status,
        held=held,
        unconfirmed=unconfirmed,
        safe=safe,
        catalog_age=age,
        inactive_since=since,
        invalidation_reason=reason,
        reader=Reader(publications=asked_for) if asked_for is not None else readers.get(name),
    )


# Clients in Java and Python write the names of options in quotes.
_REQUEST = re.compile(
    r"""START_REPLICATION\s.*[\s(,]"?publication_names"?\s*'((?:[^']|'')*)'""", re.IGNORECASE | re.DOTALL
)
_NAME = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",]*?))\s*(?:,|$)')


def requested_publications(query: str) -> tuple[str, ...] | None:
    """Return the publications in a walsender's START_REPLICATION; None if its text is hidden or cut off."""
    request = _REQUEST.match(query)
    if request is None:
        return None
    matches = _NAME.finditer(request[1].replace("''", "'"))
    names = (ascii_lower(match[2]) if match[1] is None else match[1].replace('""', '"') for match in matches)
    return tuple(filter(None, names))


def _subscription(row: Sequence[Any], not_ready: Iterable[Sequence[Any]]) -> SubscriptionState:
    name, enabled, running, disable_on_error, apply_errors, sync_errors, conflicts, since = row
    return SubscriptionState(
        name=name,
        enabled=enabled,
        running=running,
        disable_on_error=disable_on_error,
        apply_errors=apply_errors or 0,
        sync_errors=sync_errors or 0,
        conflicts=conflicts,
        counted_since=since,
        not_ready=tuple(SubscriptionTable(table, state) for of, table, state in not_ready if of == name),
    )


def _table(row: Sequence[Any]) -> TableStatistics:
    table, rows, size, updates, deletes, seconds = row
    return TableStatistics(table=table, rows=rows, size=size, updates=updates, deletes=deletes, seconds=seconds)


def _column(row: Sequence[Any]) -> ColumnStatistics:
    table, column, rows, nulls, distinct, values, frequencies, bounds = row
    return ColumnStatistics(
        table=table,
        column=column,
        rows=rows,
        nulls=nulls,
        distinct=distinct,
        values=tuple(values or ()),
        frequencies=tuple(frequencies or ()),
        bounds=tuple(bounds or ()),
    )
