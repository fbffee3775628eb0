"""The snapshot of a database's catalogs: a JSON document with one object a line, which is a source of a unit.

Names refer to objects: ``app.orders``, ``"Mixed Case".t``; a name without a schema is one of pg_catalog. Part of a
name that is not made of lower-case letters, digits and underscores is in double quotes. Fields with their usual value
are left out. Oids give the order in which the server looks at objects; nothing refers to them.

``snapshot.schema.json`` is generated from these types (``schema``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.live import records
from pubcheck.live.records import AnyObject
from pubcheck.live.server_facts import ServerFacts, Statistics
from pubcheck.postgres.tokens import identifier
from pubcheck.source import Listing, Source

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
