"""Discover the units of a repository, and facts about their files, before any unit is linted.

This runs in the process that lints (``lint_process``), because a repository may hold any files. A repository that takes
too long to search, or that kills the process, is detected in the same way as a unit that does so in the linter.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.discovery.conventions import project_above
from pubcheck.discovery.file_facts import Traits, traits
from pubcheck.discovery.file_types import SUFFIXES, DiscoveredUnit, File, view_of
from pubcheck.discovery.object_names import Names, mentions, names
from pubcheck.discovery.units import Identity, by_top, group_into_units, in_order, without_repeated
from pubcheck.discovery.walk import Owners, owners_in, read_owners, readable
from pubcheck.spark.costs import cost
from pubcheck.spark.unit_row import GIVEN_TO_THE_LINTER, MemberRow, UnitRow

BEGINNING = 1 << 20
"""Bytes that are searched, of a file too large to be linted, for its relations to other files."""


class ScannedFile(Struct, array_like=True):
    """A file of a repository: its label, its location (None for a row of a table), and the problem if it
    cannot be read. The rest is found out for a file in a folder, and given for a row: ``fate`` is unreadable,
    too-large, or what became of the process that looked at it, with a ``detail`` and a ``trace``; ``digest`` is the
    hash of the content, or replaces it; ``may_publish`` says whether there may be a finding about it."""

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

    @property
    def path(self) -> str | None:
        """The path by which conventions know the file: its location in folders, because names that are not UTF-8 may
        share a label."""
        return self.label if self.location is None else os.fsdecode(self.location)

    def member(self, file: File | None = None, owners: Owners | None = None) -> MemberRow:
        """Return the row of the file in a unit, where it is ``file``, or outside of units."""
        row = MemberRow(
            self.label,
            self.location,
            None,
            self.problem,
            fate=self.fate,
            detail=self.detail,
            trace=self.trace,
            digest=self.digest,
        )
        if file is None:
            return row
        of_file = owners.of(self.path or "") if owners is not None else ()
        return replace(row, view=file.view, context=file.context, sometime=file.sometime, app=file.app, owners=of_file)


def encode_files(files: Iterable[tuple[str, bytes, str | None]]) -> bytes:
    """Return the labels, locations and problems of files as bytes. Spark moves them in a tenth of the time that it
    takes for rows inside a row."""
    return _encode(list(files))


def decode_files(encoded: bytes) -> list[ScannedFile]:
    return _decode_files(encoded)


_encode = msgspec.msgpack.Encoder().encode
_decode_files = msgspec.msgpack.Decoder(list[ScannedFile]).decode


class Largest(Struct, frozen=True, array_like=True):
    """The bytes that a file may have, and a unit."""

    file: int
    unit: int


class RepositoryFiles(Struct, frozen=True, array_like=True):
    """A repository, its files, and the cost of linting all of it where that is known; the rest as in
    ``repositories.Repository``. ``owners`` are its files of that name, if it is the rows of a table."""

    name: str
    files: list[ScannedFile]
    cost: int = 0
    tops: tuple[bytes, ...] = ()
    included: tuple[bytes, ...] = ()
    linked: bool = False
    root: bytes | None = None
    owners: dict[str, bytes] = {}


class FileToInspect(Struct, frozen=True, array_like=True):
    """A file to look at by itself: a row's content, or its location."""

    label: str
    location: bytes | None
    content: bytes | None


class FileInspection(Struct, frozen=True, array_like=True, tag=True):
    """A request for the ``Facts`` of files."""

    files: tuple[FileToInspect, ...]
    largest: int


class Facts(Struct, frozen=True, array_like=True):
    """The facts about a file's content that decide its unit: whether there may be a finding about it, and `Traits` and
    `Names`, encoded."""

    may_publish: bool
    traits: bytes
    names: bytes


_decode_traits = msgspec.msgpack.Decoder(Traits).decode
_decode_names = msgspec.msgpack.Decoder(Names).decode
_NOTHING = Names()


def inspect_files(request: FileInspection) -> tuple[Facts, ...]:
    """Return the facts of files; those of a file that cannot be read are empty."""
    every = []
    for file in request.files:
        content = file.content
        if content is None:
            try:
                content, _ = _read(file.location or b"", request.largest)
            except (OSError, ValueError):
                content = b""
        facts = traits(file.label, content)
        named = names(content) if file.label.lower().endswith(SUFFIXES) or facts.may_publish else _NOTHING
        every.append(Facts(facts.may_matter, _encode(facts), _encode(named)))
    return tuple(every)


def discover(
    repository: RepositoryFiles, largest: Largest, rules: str
) -> tuple[tuple[UnitRow, ...], Mapping[bytes, bytes]]:
    """Return the units of a repository, and the files outside of them; and the contents of its files by location,
    unless they are large. Of several rows with one path the first by digest counts, the others are duplicates."""
    inspector = _RepositoryInspector(largest.file)
    for file in repository.files:
        if file.location is not None and file.problem is None and file.fate is None:
            inspector.read(file)
        elif file.problem is not None:
            file.fate, file.detail, file.digest = "unreadable", file.problem, file.problem
    ordered = sorted(repository.files, key=lambda file: (file.label or "", file.location or b"", file.digest))
    copies: dict[str | None, list[ScannedFile]] = {}
    for file in ordered:
        copies.setdefault(file.path, []).append(file)
    publishes = any(file.may_publish for file in ordered)
    owners = _owners(repository) if publishes else None
    rows = []
    members: set[str | None] = set()
    for unit in _units(repository, copies, inspector):
        members.update(file.path for file in unit.files if not file.context)
        row = _row(repository.name, unit, [copies[file.path] for file in unit.files], largest, rules, owners)
        rows.append(row if publishes else _skipped(row))
    outside = [file for path, same_contents in copies.items() if path not in members for file in same_contents]
    if outside:
        rows.append(_outside(repository.name, outside))
    return tuple(rows), inspector.contents


def _owners(repository: RepositoryFiles) -> Owners | None:
    return read_owners(os.fsdecode(repository.root)) if repository.root else owners_in(repository.owners)


def undiscovered(repository: RepositoryFiles) -> UnitRow:
    """Return a repository for which no units could be found: its files, which all have a fate."""
    return _outside(repository.name, repository.files)


def _read(location: bytes, largest: int) -> tuple[bytes, int]:
    """Return a file's content and its size; of one over ``largest`` bytes only the beginning, which shows the files
    next to it whether they belong to it."""
    # Half the time that `open` takes for a small file.
    descriptor = os.open(location, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        if size > largest:
            return os.read(descriptor, min(largest, BEGINNING)), size
        content = os.read(descriptor, size + 1)
        # It grows, or is not on a disk, or comes over a network and in pieces.
        while len(content) != size and len(content) <= largest and (more := os.read(descriptor, 1 << 16)):
            content += more
    finally:
        os.close(descriptor)
    size = max(size, len(content))
    return (content, size) if size <= largest else (content[: min(largest, BEGINNING)], size)


_KEPT = 16 << 20
"""Bytes of contents that are kept of a repository."""


class _RepositoryInspector:
    """Answers questions about a repository's files by the paths that conventions know them by."""

    def __init__(self, largest: int) -> None:
        self.files: dict[str, ScannedFile] = {}
        self.contents: dict[bytes, bytes] = {}
        self._traits: dict[int, Traits] = {}
        self._room = _KEPT
        self._largest = largest

    def read(self, file: ScannedFile) -> None:
        """Fill in the fields of a file in a folder."""
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
        known = self._traits.get(id(file))
        if known is None:
            known = self._traits[id(file)] = Traits() if file.traits is None else _decode_traits(file.traits)
        return known

    def names(self, path: str, needed: frozenset[str] | None = None) -> Names:
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
        if needed is not None and not mentions(content, needed):
            return _NOTHING
        file_names = names(content)
        file.names = _encode(file_names)
        return file_names


def _units(
    repository: RepositoryFiles, copies: Mapping[str | None, Sequence[ScannedFile]], inspector: _RepositoryInspector
) -> list[DiscoveredUnit]:
    """Return the units of the files by path, each with a name of its own. A folder that cannot be listed is a unit of
    one file."""
    first = {path: same_contents[0] for path, same_contents in copies.items() if path is not None}
    unlisted = [file for file in first.values() if file.location is not None and file.problem is not None]
    files = {path: file for path, file in first.items() if file.location is None or file.problem is None}
    in_table = any(file.location is None for file in files.values())
    if in_table:
        paths = frozenset(readable(files))
        files = {path: file for path, file in files.items() if path in paths}
    inspector.files = files
    known = [(path, File(path, file.label or "", view=view_of(path))) for path, file in files.items()]
    included = frozenset(os.fsdecode(path).replace(os.sep, "/") for path in repository.included)
    units: list[DiscoveredUnit] = []
    for part in by_top(known, [os.fsdecode(top) for top in repository.tops]):
        units += group_into_units(part, inspector, included)[0]
    for folder in unlisted:
        label = folder.label or ""
        units.append(DiscoveredUnit(label, (File(folder.path or "", label),), "folder", ""))
    if repository.tops or unlisted:
        units = in_order(units)
    if repository.linked:
        reported: set[Identity] = set()
        units = [new for unit in units if (new := without_repeated(unit, reported)) is not None]
    if in_table:
        projects = {match[1] for path in files if (match := _SUPABASE.match(path))}
        units = [replace(unit, platform=_platform(unit, projects)) for unit in units] if projects else units
    names: set[str] = set()
    return [replace(unit, name=_unused(unit.name, names)) for unit in units]


_SUPABASE = re.compile(r"((?:.*/)?supabase)/(?:config\.toml$|migrations/)", re.S)


def _platform(unit: DiscoveredUnit, projects: Container[str]) -> str:
    """Return the platform of a unit in a table, by the folders of Supabase's ``projects`` there; in folders, the disk
    shows it."""
    folders = {file.path.rpartition("/")[0] for file in unit.files}
    return "supabase" if any(project_above(folder, projects.__contains__) for folder in folders) else ""


def _unused(name: str, used_names: set[str]) -> str:
    """Return the name, or one like it if another unit has it already."""
    unused, number = name, 1
    while unused in used_names:
        number += 1
        unused = f"{name} ({number})"
    used_names.add(unused)
    return unused


def _row(
    repository: str,
    unit: DiscoveredUnit,
    copies: Sequence[Sequence[ScannedFile]],
    largest: Largest,
    rules: str,
    owners: Owners | None,
) -> UnitRow:
    """Return the row of a unit; ``copies`` are, for each of its files, the rows that have its path. Its context costs
    time and memory, and the unit cannot be linted without it; it is counted where another unit has it, or none."""
    described = [rules, unit.convention, unit.platform, *map(str, unit.postgres)]
    members: list[MemberRow] = []
    every: list[ScannedFile] = []
    own: list[ScannedFile] = []
    for ordinal, (file, same_contents) in enumerate(zip(unit.files, copies, strict=True)):
        for duplicate in same_contents[1:]:
            duplicate.fate = "duplicate"
        rows = same_contents[:1] if file.context else same_contents
        every += rows
        own += () if file.context else rows
        rows_of_file = [copy.member(file, owners) for copy in rows]
        members += rows_of_file
        placed = f"{file.view}\t{file.context}\t{file.sometime}\t{file.app}"
        described += [f"{ordinal}\t{copy.label}\t{copy.digest}\t{copy.fate}\t{placed}" for copy in rows]
        described += [" ".join(member.owners) for member in rows_of_file if member.owners]
    text = "\n".join(described).encode("utf-8", "surrogateescape")
    size = sum(file.size for file in every)
    reason, why = _stopped(every, size, largest)
    return UnitRow(
        repository=repository,
        unit=unit.name,
        convention=unit.convention,
        majors=unit.postgres,
        platform=unit.platform,
        files=len(own),
        size=sum(file.size for file in own),
        cost=cost(size, len(every)),
        fingerprint=hashlib.sha256(text).hexdigest(),
        step="lint" if reason is None else "stopped",
        reason=reason,
        why=why,
        set_aside=sum(file.fate not in GIVEN_TO_THE_LINTER for file in own),
        members=tuple(members),
    )


def _skipped(row: UnitRow) -> UnitRow:
    """Return the row of a unit in a repository that is not about publications."""
    return replace(row.without_members(), step="skipped", reason=None, why=None)


def _stopped(files: Sequence[ScannedFile], size: int, largest: Largest) -> tuple[str | None, str | None]:
    """Return why a unit cannot be linted, if so: the reason, and a text for people."""
    stopped = next((file for file in files if file.fate not in (*GIVEN_TO_THE_LINTER, "duplicate")), None)
    if stopped is not None and stopped.fate != "too-large":
        return stopped.fate, f"{stopped.label}: {stopped.detail}"
    if stopped is None and size <= largest.unit:
        return None, None
    allowed = f"a file may have {largest.file} and a unit {largest.unit} bytes"
    return "too-large", f"{size} bytes in {len(files)} files; {allowed}"


def _outside(repository: str, files: Sequence[ScannedFile]) -> UnitRow:
    """Return the row of the files that are in no unit."""
    members = tuple(file.member() for file in files if file.fate is not None)
    size = sum(file.size for file in files)
    return UnitRow(repository, None, files=len(files), size=size, step="apart", members=members)
