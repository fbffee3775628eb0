"""The result of `pubcheck measure`: the document, as JSON and as text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from pubcheck.report import count
from pubcheck.source import escape

SCHEMA_VERSION = 1


class Nulls(Struct, frozen=True):
    """Rows in which a column that a filter reads is NULL."""

    column: str
    rows: int


class PublicationRows(Struct, frozen=True):
    """The rows of a table that a publication publishes.

    ``filter`` is as written, ``spark`` is the expression that was run. ``copied`` rows are in the initial copy,
    ``inserted`` ones are published when they are inserted. For ``unknown`` rows the filter is NULL, so that they are
    not published. All are null if they could not be counted, for this ``reason``.
    """

    publication: str
    filter: str | None
    spark: str | None
    operations: tuple[str, ...]
    certainty: str
    copied: int | None
    inserted: int | None
    unknown: int | None
    reason: str | None


class Overlap(Struct, frozen=True):
    """Rows that two publications both send."""

    publications: tuple[str, str]
    rows: int


class TableRows(Struct, frozen=True):
    """A table. ``sent_by_none`` and ``sent_by_several`` are of its publications; null where not all were counted."""

    table: str
    data: str
    rows: int
    nulls: tuple[Nulls, ...]
    publications: tuple[PublicationRows, ...]
    sent_by_none: int | None
    sent_by_several: int | None
    overlaps: tuple[Overlap, ...]


class Measurement(Struct, frozen=True):
    pubcheck: str
    schema_version: int
    postgres: int
    tables: tuple[TableRows, ...]


def json(measurement: Measurement) -> str:
    """Return one document, described by `measure.schema.json`."""
    return msgspec.json.format(msgspec.json.encode(measurement), indent=2).decode() + "\n"


def schema() -> bytes:
    """Return the schema of ``json``, which ships as `measure.schema.json`."""
    document = msgspec.json.schema(Measurement)
    for definition in document["$defs"].values():
        if description := definition.get("description"):
            definition["description"] = inspect.cleandoc(description)  # as Python does by itself from 3.13 on
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def text(measurement: Measurement) -> Iterator[str]:
    """Return the document in words, line by line."""
    for number, table in enumerate(measurement.tables):
        if number:
            yield ""
        yield from _table(table)


def _table(table: TableRows) -> Iterator[str]:
    yield f"{escape(table.table)}: {count(table.rows, 'row')} in {escape(table.data)}"
    if not table.publications:
        yield "  no publication publishes any of them"
    for publication in table.publications:
        assumed = "" if publication.certainty == "certain" else "  (assumed)"
        yield f"  publication {escape(publication.publication)}{assumed}"
        if publication.filter is not None or publication.reason is None:
            yield f"    filter      {'none: every row' if publication.filter is None else escape(publication.filter)}"
        if publication.reason is not None or publication.copied is None:
            yield f"    not run     {escape(publication.reason or '')}"
            continue
        yield f"    copied      {_share(publication.copied, table.rows)} by the initial copy"
        if "insert" not in publication.operations:
            yield "    inserted    none: it publishes no INSERT"
        if publication.unknown:
            yield f"    unpublished {_share(publication.unknown, table.rows)} because the filter is NULL"
    for nulls in table.nulls:
        if nulls.rows:
            yield f"  NULL          {_share(nulls.rows, table.rows)} in column {escape(nulls.column)}"
    if table.sent_by_none is not None:
        yield f"  gap           {_share(table.sent_by_none, table.rows)} are published by no publication"
    elif table.publications:
        yield "  gap           not known: not every filter could be run"
    if table.sent_by_several is not None and len(table.publications) > 1:
        yield f"  overlap       {_share(table.sent_by_several, table.rows)} are published by several publications"
    for overlap in table.overlaps:
        if overlap.rows:
            both = " and ".join(map(escape, overlap.publications))
            yield f"  overlap       {_share(overlap.rows, table.rows)} are published by {both}"


def _share(rows: int, whole: int) -> str:
    share = rows / whole if whole else 0.0
    percent = f"{share:.1%}" if not 0 < share < 0.001 else "<0.1%"
    return f"{count(rows, 'row'):>16} {percent:>7}"


if __name__ == "__main__":
    import os

    document = schema()
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.schema.json"), "wb") as file:
        file.write(document)
