"""A unit of the audit as a row: what is known of it before it is linted, and then the result.

The row passes from the process that reads files to Spark and from one step of the job to the next, and the tables are
made of it. It is the only record of a unit besides the core's own (``DiscoveredUnit``, ``LintedUnit``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.findings import Entry

GIVEN_TO_THE_LINTER = (None, "unreadable")
"""Fates of files that the linter gets: it reports itself which files it cannot read."""

Step = Literal["lint", "linted", "carried", "stopped", "skipped", "apart"]
"""The state of a unit: to be linted; linted; carried over from an earlier run; it cannot be linted; its repository
is not about publications. Files that are in no unit are `apart`."""


class MemberRow(Struct, frozen=True, array_like=True):
    """A file of a unit: the columns ``schema.MEMBER``. One that is ``context`` is counted where it is not context."""

    path: str | None
    location: bytes | None
    view: str | None
    problem: str | None
    context: bool = False
    sometime: bool = False
    app: str | None = None
    fate: str | None = None
    detail: str | None = None
    trace: str | None = None
    digest: str = ""
    owners: tuple[str, ...] = ()


class Quarantined(Struct, frozen=True):
    """A row of the table `quarantine`: the reason for which a unit, or without one the file ``path``, was
    quarantined, a text for people and a traceback."""

    reason: str
    detail: str
    trace: str | None = None
    path: str | None = None


class FindingRow(Entry, frozen=True):
    """A finding: the columns ``schema.DIAGNOSTIC``."""

    fingerprint: str = ""
    owners: tuple[str, ...] = ()


def packed(rows: Sequence[Struct]) -> bytes | None:
    """Return rows of a table as one value; None if there are none."""
    return _encode(rows) if rows else None


def unpacked(rows: bytes | None) -> list[Any]:
    """Return the rows that are in such a value: the fields of each in their order, or by name."""
    return _decode(rows) if rows is not None else []


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Any]).decode


class UnitRow(Struct, frozen=True, array_like=True):
    """A unit: the columns ``schema.EXAMINED`` in their order. Without a name, it holds the files that are in no unit.
    It is whole from its discovery on; linting fills in the fields from ``findings`` on. ``findings`` and ``published``
    are lists of ``FindingRow`` and ``Published``, encoded with ``packed``.

    ``reason`` is that of the table `quarantine` for a unit that cannot be linted, and ``why`` the same for people;
    ``set_aside`` counts the files that are quarantined by themselves before linting. ``members`` are in order. If
    the unit need not be linted, or was linted and not quarantined, they are only the files that have a fate.
    """

    repository: str
    unit: str | None
    convention: str | None = None
    majors: tuple[int, ...] = ()
    platform: str = ""
    files: int = 0
    size: int = 0
    cost: int = 0
    fingerprint: str = ""
    step: Step = "lint"
    reason: str | None = None
    why: str | None = None
    set_aside: int = 0
    members: tuple[MemberRow, ...] = ()
    findings: bytes | None = None
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    published: bytes | None = None
    quarantine: tuple[Quarantined, ...] = ()
    unread: int = 0
    postgres: tuple[int, ...] | None = None
    statements: int = 0
    seconds: float = 0.0
    failed: str | None = None

    def discovered(self, contents: Sequence[bytes | None]) -> DiscoveredUnit:
        """Return the unit to lint; ``contents`` are those of its members as far as they are known."""
        files = tuple(
            File(
                os.fsdecode(member.location or b""),
                member.path or "",
                member.problem,
                # A file of a folder is known by its path as well; its content is only not read twice.
                content=content if member.location is None else None,
                view=member.view or "sql",
                context=member.context,
                sometime=member.sometime,
                app=member.app,
                cached_content=content if member.location is not None else None,
            )
            for member, content in zip(self.members, contents, strict=True)
            if member.fate in GIVEN_TO_THE_LINTER
        )
        return DiscoveredUnit(self.unit or "", files, self.convention or "", "", self.majors, platform=self.platform)

    def quarantined(self, failure: Quarantined) -> UnitRow:
        """Return the row of a unit whose linting ended without a result."""
        return replace(self, step="linted", postgres=(), quarantine=(failure,), failed=failure.reason)

    def without_members(self) -> UnitRow:
        """Return the row without the members that are not needed once the unit is linted and not quarantined."""
        kept_members = tuple(member for member in self.members if member.fate is not None and not member.context)
        return replace(self, members=kept_members)
