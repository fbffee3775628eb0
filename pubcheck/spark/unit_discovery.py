"""Which files of a repository make units, and what is known of them before any is linted.

This runs in the process that lints (`child`), for what is searched are anybody's files: one that takes the search too
long, or kills it, is to be found out as one that does so to the linter.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.discovery.file_facts import Traits, traits
from pubcheck.discovery.file_types import SUFFIXES, File, view_of
from pubcheck.discovery.object_names import Names, mentions, names
from pubcheck.discovery.units import group_into_units
from pubcheck.discovery.walk import readable
from pubcheck.spark.costs import cost

BEGINNING = 1 << 20
"""Bytes of a file that is too large to be linted in which is looked for what it has to do with others."""
LINTED_ALL_THE_SAME = (None, "unreadable")
"""Fates of files that the linter is given: it tells itself of what it cannot read."""


class DiscoveredFile(Struct, array_like=True):
    """A file of a repository: its label, where it is (None for a row of a table), and why it is known already that it
    cannot be read. The rest is found out of a file that lies somewhere, and given of a row: ``fate`` is unreadable,
    too-large, or what the process came to that looked at it, with a ``detail`` and a ``trace``; ``digest`` is of the
    content, or stands for it; ``may_publish`` says whether anything may be said of it."""

    label: str | None
    location: bytes | None = None
    problem: str | None = None
    fate: str | None = None
    detail: str | None = None
    trace: str | None = None
    size: int = 0
    digest: str = ""
    may_publish: bool = True
    traits: bytes | None = None
    names: bytes | None = None


Step = Literal["lint", "linted", "carried", "stopped", "passed-over", "apart"]
"""What is to be done, or was done, with a unit: it is linted; its rows are carried over from an earlier run; it cannot
be linted; its repository is not about publications. Files that are in no unit are `apart`."""


class Largest(Struct, frozen=True, array_like=True):
    """The bytes that a file may have, and a unit."""

    file: int
    unit: int


class Survey(Struct, frozen=True, array_like=True, tag=True):
    """A repository to find the units of; ``rules`` stand for all but the files that findings depend on."""

    files: tuple[DiscoveredFile, ...]
    largest: Largest
    rules: str


class Member(Struct, frozen=True, array_like=True):
    """A file of a unit."""

    path: str | None
    location: bytes | None
    view: str | None
    problem: str | None
    fate: str | None
    detail: str | None
    trace: str | None
    digest: str


class DiscoveredUnit(Struct, frozen=True, array_like=True):
    """A unit, or, without a name, the files that are in none. ``reason`` is that of the table `quarantine` for a
    unit that cannot be linted, and ``why`` for people; ``set_aside`` counts the files that are quarantined by
    themselves, but for those that the linter cannot read. Its ``members`` in order; of a unit that need
    not be linted, or was and is not quarantined, only those with a fate."""

    unit: str | None
    habit: str | None
    majors: tuple[int, ...]
    files: int
    bytes: int
    cost: int
    fingerprint: str
    step: Step
    reason: str | None
    why: str | None
    set_aside: int
    members: tuple[Member, ...]


class FileToInspect(Struct, frozen=True, array_like=True):
    """A file to look at by itself: a row's content, or where it is."""

    label: str
    location: bytes | None
    content: bytes | None


class FileInspection(Struct, frozen=True, array_like=True, tag=True):
    """Files whose ``Facts`` are asked for."""

    files: tuple[FileToInspect, ...]
    largest: int


class Facts(Struct, frozen=True, array_like=True):
    """What of a file's content decides where it belongs: `Traits` and `Names`, encoded."""

    traits: bytes
    names: bytes


_encode = msgspec.msgpack.Encoder().encode
_decode_traits = msgspec.msgpack.Decoder(Traits).decode
_decode_names = msgspec.msgpack.Decoder(Names).decode
_NOTHING = Names()


def looked(wanted: FileInspection) -> tuple[Facts, ...]:
    """The facts of files; of one that cannot be read there are none."""
    found = []
    for file in wanted.files:
        content = file.content
        if content is None:
            try:
                content, _ = _read(file.location or b"", wanted.largest)
            except (OSError, ValueError):
                content = b""
        facts = traits(file.label, content)
        named = names(content) if file.label.lower().endswith(SUFFIXES) or facts.may_publish else _NOTHING
        found.append(Facts(_encode(facts), _encode(named)))
    return tuple(found)


def surveyed(wanted: Survey) -> tuple[tuple[DiscoveredUnit, ...], Mapping[bytes, bytes]]:
    """The units of a repository, and the files outside them; and what its files hold, by where they are, unless that is
    much."""
    known = _Known(wanted.largest.file)
    for file in wanted.files:
        if file.location is not None and file.problem is None and file.fate is None:
            known.look(file)
        elif file.problem is not None:
            file.fate, file.detail, file.digest = "unreadable", file.problem, file.problem
    return _units(wanted, known), known.contents


def after_linting(unit: DiscoveredUnit, *, failed: bool) -> DiscoveredUnit:
    """The unit once it was linted; ``failed``: it is quarantined."""
    members = unit.members if failed else tuple(member for member in unit.members if member.fate is not None)
    return replace(unit, step="linted", members=members)


def given_up(wanted: Survey) -> tuple[DiscoveredUnit, ...]:
    """What is left of a repository for which no units could be found: files that all have a fate."""
    return (_outside(wanted.files),)


def _read(location: bytes, largest: int) -> tuple[bytes, int]:
    """A file's content and its size; of one over ``largest`` bytes the beginning alone, which tells the files beside it
    whether they belong to it."""
    # Half the time that `open` takes for a small file.
    descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        if size > largest:
            return os.read(descriptor, min(largest, BEGINNING)), size
        content = os.read(descriptor, size + 1)
        # It grows, or is no disk's, or comes over a network and in pieces.
        while len(content) != size and len(content) <= largest and (more := os.read(descriptor, 1 << 16)):
            content += more
    finally:
        os.close(descriptor)
    size = max(size, len(content))
    return (content, size) if size <= largest else (content[: min(largest, BEGINNING)], size)


_KEPT = 16 << 20
"""Bytes of contents that are kept of a repository."""


class _Known:
    """What is known of a repository's files by the paths that habits know them by."""

    def __init__(self, largest: int) -> None:
        self.files: dict[str, DiscoveredFile] = {}
        self.contents: dict[bytes, bytes] = {}
        self._traits: dict[int, Traits] = {}
        self._room = _KEPT
        self._largest = largest

    def look(self, file: DiscoveredFile) -> None:
        """Finds out what is to be known of a file that lies somewhere."""
        assert file.label is not None
        assert file.location is not None
        try:
            content, file.size = _read(file.location, self._largest)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            file.fate, file.digest, file.detail = "unreadable", str(error), reason
            return
        facts = self._traits[id(file)] = traits(file.label, content)
        if file.size > self._largest:
            file.fate, file.digest, file.detail = "too-large", f"{file.size} bytes", f"{file.size} bytes"
            file.names = _encode(names(content))
        else:
            file.digest, file.may_publish = hashlib.sha256(content).hexdigest(), facts.may_matter
            if len(content) <= self._room:
                self._room -= len(content)
                self.contents[file.location] = content

    def traits(self, path: str) -> Traits:
        file = self.files[path]
        found = self._traits.get(id(file))
        if found is None:
            found = self._traits[id(file)] = Traits() if file.traits is None else _decode_traits(file.traits)
        return found

    def names(self, path: str, wanted: frozenset[str] | None = None) -> Names:
        file = self.files[path]
        if file.names is not None:
            return _decode_names(file.names)
        if file.location is None or file.fate is not None:
            return _NOTHING
        content = self.contents.get(file.location)
        if content is None:
            try:
                content, _ = _read(file.location, self._largest)
            except (OSError, ValueError):
                return _NOTHING
        if wanted is not None and not mentions(content, wanted):
            return _NOTHING
        found = names(content)
        file.names = _encode(found)
        return found


class _Place(Struct, frozen=True):
    unit: str
    habit: str
    majors: tuple[int, ...]
    ordinal: int
    view: str


def _path(file: DiscoveredFile) -> str | None:
    """The path by which habits know a file: files in folders are told apart by where they are, for names that are no
    UTF-8 may have one label."""
    return file.label if file.location is None else os.fsdecode(file.location)


def _units(wanted: Survey, known: _Known) -> tuple[DiscoveredUnit, ...]:
    """Of several rows of a path the first by digest counts, the others are duplicates."""
    rows = sorted(wanted.files, key=lambda file: (file.label or "", file.location or b"", file.digest))
    alone = []
    in_table = False
    for file in rows:
        path = _path(file)
        if file.location is None:
            in_table = True
        elif file.problem is not None:
            alone.append(file)  # a folder that cannot be listed
            continue
        if path is not None:
            known.files.setdefault(path, file)
    if in_table:
        met = frozenset(readable(known.files))
        known.files = {path: file for path, file in known.files.items() if path in met}
    places = _places(known, alone)
    units: dict[str, list[tuple[int, DiscoveredFile, _Place]]] = {}
    outside = []
    for _, same in groupby(rows, _path):
        for number, file in enumerate(same):
            place = places.get(_path(file) or "")
            if place is None:
                outside.append(file)
                continue
            if number:
                file.fate = "duplicate"
            units.setdefault(place.unit, []).append((place.ordinal, file, place))
    selected = any(file.may_publish for file in rows)
    found = [_unit(unit, members, wanted, selected=selected) for unit, members in units.items()]
    return (*found, _outside(outside)) if outside else tuple(found)


def _places(known: _Known, alone: Iterable[DiscoveredFile]) -> dict[str, _Place]:
    plans, _ = group_into_units(
        [(path, File(path, file.label or "", view=view_of(path))) for path, file in known.files.items()], known
    )
    called: set[str] = set()

    def name(wanted: str) -> str:
        """The name, or one like it if it is another unit's already."""
        found, number = wanted, 1
        while found in called:
            number += 1
            found = f"{wanted} ({number})"
        called.add(found)
        return found

    places = {}
    for plan in plans:
        unit = name(plan.name)
        for ordinal, file in enumerate(file for file in plan.files if not file.context):
            places[file.path] = _Place(unit, plan.habit, plan.postgres, ordinal, file.view)
    for each in alone:
        places[_path(each) or ""] = _Place(name(each.label or ""), "folder", (), 0, "sql")
    return places


def _unit(
    name: str, given: list[tuple[int, DiscoveredFile, _Place]], wanted: Survey, *, selected: bool
) -> DiscoveredUnit:
    given.sort(key=lambda each: each[0])
    habit, majors = given[0][2].habit, given[0][2].majors
    described = [wanted.rules, habit, *map(str, majors)]
    described += [
        f"{ordinal}\t{file.label}\t{file.digest}\t{file.fate}\t{place.view}" for ordinal, file, place in given
    ]
    text = "\n".join(described).encode("utf-8", "surrogateescape")
    size = sum(file.size for _, file, _ in given)
    reason, why = _stopped([file for _, file, _ in given], size, wanted.largest) if selected else (None, None)
    return DiscoveredUnit(
        unit=name,
        habit=habit,
        majors=majors,
        files=len(given),
        bytes=size,
        cost=cost(size, len(given)),
        fingerprint=hashlib.sha256(text).hexdigest(),
        step="passed-over" if not selected else "lint" if reason is None else "stopped",
        reason=reason,
        why=why,
        set_aside=sum(file.fate not in LINTED_ALL_THE_SAME for _, file, _ in given),
        members=tuple(_member(file, place.view) for _, file, place in given if selected or file.fate is not None),
    )


def _stopped(files: Sequence[DiscoveredFile], size: int, largest: Largest) -> tuple[str | None, str | None]:
    """Why a unit cannot be linted, if so: the reason, and for people."""
    stopped = next((file for file in files if file.fate not in (*LINTED_ALL_THE_SAME, "duplicate")), None)
    if stopped is not None and stopped.fate != "too-large":
        return stopped.fate, f"{stopped.label}: {stopped.detail}"
    if stopped is None and size <= largest.unit:
        return None, None
    allowed = f"a file may have {largest.file} and a unit {largest.unit} bytes"
    return "too-large", f"{size} bytes in {len(files)} files; {allowed}"


def _outside(files: Iterable[DiscoveredFile]) -> DiscoveredUnit:
    every = list(files)
    members = tuple(_member(file, None) for file in every if file.fate is not None)
    return DiscoveredUnit(
        None, None, (), len(every), sum(file.size for file in every), 0, "", "apart", None, None, 0, members
    )


def _member(file: DiscoveredFile, view: str | None) -> Member:
    return Member(file.label, file.location, view, file.problem, file.fate, file.detail, file.trace, file.digest)
