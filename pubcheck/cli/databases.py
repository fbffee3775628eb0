"""Databases and snapshots among the arguments of a command."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click
from msgspec import Struct
from msgspec.structs import replace

from pubcheck import __version__
from pubcheck.cli.app import NoInput
from pubcheck.config import ConfigError
from pubcheck.discovery.file_inspector import begins_as_json, content_of
from pubcheck.discovery.file_types import DATABASE, SNAPSHOT, STDIN, UNNAMED, DiscoveredUnit, File, label_of
from pubcheck.discovery.units import Discovery
from pubcheck.live import document, records
from pubcheck.live.connect import connect, display_name, is_connection
from pubcheck.live.load import check
from pubcheck.source import decode


class Listing(Struct, frozen=True):
    """A database or a snapshot as a file of a unit, with its major."""

    file: File
    major: int


def is_listing(argument: str) -> bool:
    """Return whether an argument is a database or a snapshot. Folders are not searched for snapshots."""
    return is_connection(argument) or (begins_as_json(argument) and document.is_snapshot(content_of(argument)))


def taken(conninfo: str, *, facts: bool = False) -> tuple[str, document.Snapshot]:
    """Return a database's name for reports and its snapshot, with facts if asked for. Raises LiveError."""
    from pubcheck.live.document import read_snapshot, with_facts

    with connect(conninfo) as connection:
        snapshot = read_snapshot(connection, __version__)
        return connection.name, with_facts(connection, snapshot) if facts else snapshot


def with_statistics(snapshot: document.Snapshot) -> document.Snapshot:
    """Return the snapshot of a running server as a file has it, with statistics."""
    from pubcheck.live.published_shares import without_values

    assert snapshot.facts is not None
    objects = (row for row in snapshot.objects if not isinstance(row, records.Setting | records.Slot))
    statistics = without_values(snapshot, snapshot.facts)
    return replace(snapshot, objects=tuple(objects), facts=None, statistics=statistics)


def read(argument: str, stdin: bytes | None = None) -> Listing:
    """Read a database or a snapshot. Raises LiveError, and ConfigError for a snapshot that cannot be read."""
    if is_connection(argument):
        label, snapshot = taken(argument, facts=True)
        return Listing(File("", label, content=document.encode(snapshot), view=DATABASE), snapshot.server.postgres)
    label = UNNAMED if argument == STDIN else label_of(argument)
    try:
        content = stdin if argument == STDIN and stdin is not None else content_of(argument)
        text = decode(content).text or ""  # Windows PowerShell writes UTF-16
        snapshot = document.decode(text.encode())
        check(snapshot)
        return Listing(File(argument, label, content=content, view=SNAPSHOT), snapshot.server.postgres)
    except (OSError, document.BadSnapshot) as error:
        raise ConfigError(f"{label}: {error}") from None


Discover = Callable[[tuple[str, ...], tuple[str, ...]], Discovery]


def with_listings(
    paths: tuple[str, ...],
    schema: tuple[str, ...],
    discover: Discover,
    *,
    stdin: bytes | None,
    together: bool,
    majors: tuple[int, ...],
) -> Discovery:
    """Return the units of a run with databases or snapshots among its arguments.

    ``discover`` finds the units of the other paths, each with the other context. ``stdin`` is the content of the path
    `-`. ``majors`` are those that the command line names; without any, those of the servers count.
    """
    from_stdin = stdin is not None and document.is_snapshot(stdin)
    listed = [path for path in paths if (path == STDIN and from_stdin) or is_listing(path)]
    contexts = [path for path in schema if (path == STDIN and from_stdin) or is_listing(path)]
    if contexts and (len(contexts) > 1 or schema[0] not in contexts):
        raise click.UsageError("--schema takes one database or snapshot, before any file")
    if listed and (together or contexts):
        option = "--together" if together else "--schema"
        name = display_name(listed[0]) if is_connection(listed[0]) else listed[0]
        raise click.UsageError(f"{name} is a whole database, which {option} cannot add to; give it as --schema")
    for path in schema:
        if path.endswith(".json") and os.path.isfile(path) and not os.path.getsize(path):
            raise NoInput(f"{path} is empty; did the command that writes it fail?")
        if path not in contexts and begins_as_json(path):
            raise NoInput(f"{path} is JSON, and not a snapshot of a database")
    rest = tuple(path for path in paths if path not in listed)
    discovery = (
        discover(rest, tuple(path for path in schema if path not in contexts)) if rest else Discovery([], [], [])
    )
    units = [_unit(read(path, stdin), majors) for path in listed]
    if not contexts:
        return replace(discovery, units=units + discovery.units)
    return replace(discovery, units=_after(read(contexts[0], stdin), discovery.units, majors))


def _unit(listing: Listing, majors: tuple[int, ...]) -> DiscoveredUnit:
    file = listing.file
    reason = "a running server" if file.view == DATABASE else "a snapshot of a database"
    return DiscoveredUnit(file.label, (file,), file.view, reason, _checked_as(listing, majors), named=True)


def _after(listing: Listing, units: Sequence[DiscoveredUnit], majors: tuple[int, ...]) -> list[DiscoveredUnit]:
    """Return units that begin in the state of a database."""
    context, postgres = replace(listing.file, context=True), _checked_as(listing, majors)
    return [replace(unit, files=(context, *unit.files), postgres=postgres, named=True) for unit in units]


def _checked_as(listing: Listing, majors: tuple[int, ...]) -> tuple[int, ...]:
    """Return the major of a server, unless the command line names others, which is reported."""
    others = ", ".join(str(major) for major in majors if major != listing.major)
    if others:
        click.echo(
            f"pubcheck: {listing.file.label} is of PostgreSQL {listing.major}, and checked as {others}", err=True
        )
    return () if majors else (listing.major,)
