"""The records that the history of a unit's publications keeps."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pubcheck.postgres.catalog.rows import Place, PublicationRel


class PublicationEvent(Struct, frozen=True):
    """A publication's name that ceased to be, or came to be after a subscription took it."""

    name: str
    oid: int
    kind: Literal["dropped", "renamed", "created"]
    place: Place


class EndedMembership(Struct, frozen=True):
    """A membership that a statement ended, by SET or by the CASCADE of something else."""

    entry: PublicationRel
    place: Place
    by: Literal["set", "cascade"]


class FormerName(Struct, frozen=True):
    """A published table that was dropped, or is called otherwise now."""

    oid: int
    publications: tuple[int, ...]
    place: Place
    fate: Literal["dropped", "renamed"]


class Added(Struct, frozen=True):
    relation: int
    column: int
    place: Place


class Renamed(Struct, frozen=True):
    """The former name of a published table, or of one of its columns (by number). ``name`` is without the schema
    public."""

    relation: int
    name: str
    place: Place
    column: int = 0


class ChangedType(Struct, frozen=True):
    """A type that was renamed or, if ``labels``, an enum that was given other labels. ``name`` is its former one."""

    type: int
    name: str
    place: Place
    labels: bool


class Moved(Struct, frozen=True):
    """A table that a statement took out of publications, or brought into them; ``by`` says how."""

    relation: int
    publications: tuple[int, ...]
    place: Place
    by: Literal["schema", "unlogged", "attached", "detached"]
    parent: int = 0
