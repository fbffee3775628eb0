"""A snapshot as a source of a unit: each line is an object, and takes the place of the statement that creates it."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.server_facts import Statistics
from pubcheck.postgres.identifiers import identifier
from pubcheck.source import Listing, Source


class SnapshotListing(Listing, frozen=True):
    """The objects of a snapshot."""

    snapshot: doc.Snapshot | None = None


def source_of(label: str, text: str, *, live: bool) -> Source:
    """Return the source of a snapshot's text. ``live``: it was just read from a server. Raises BadSnapshot."""
    snapshot = doc.decode(text.encode())
    return Source(label, text, listing=SnapshotListing(snapshot.objects, doc.FIRST_OBJECT + 1, live, snapshot))


def snapshots(sources: Sequence[Source]) -> dict[int, doc.Snapshot]:
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
