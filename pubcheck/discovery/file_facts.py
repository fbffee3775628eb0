"""Facts about a file's bytes that decide whether it matters, and its unit: cheap, found without a parser, read once."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Sequence
from stat import S_ISREG

from msgspec import Struct

from pubcheck.discovery.conventions import APPS, HEAD, kind_of
from pubcheck.discovery.file_types import SUFFIXES, interpreter_of, may_be_script
from pubcheck.discovery.migration_lists import (
    SCHEMA,
    STRUCTURE,
    alembic_revision,
    changelog_entries,
    django_labels,
    django_revision,
    listed_order,
    schema_versions,
)
from pubcheck.lazy_regex import lazy_compile
from pubcheck.source import in_utf8

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.object_names import Names

#
# Select the files of a corpus that may have findings: cheaply, and erring only by keeping too many.
#
# A file of SQL is kept if it names a publication, a subscription or a replica identity anywhere, in any case, and
# contains a statement: the statement may be built at run time, or by psql. A program is read by `pubcheck lint` only if
# CREATE [OR REPLACE], ALTER or DROP precedes PUBLICATION or SUBSCRIPTION with whitespace between them, and PUBLICATION
# occurs anywhere, as it does in every CREATE SUBSCRIPTION. So a program is kept for that, or for a replica identity.
#
# If a comment or a psql command comes between those words, it is enough that PUBLICATION occurs anywhere. So no pattern
# has to look for the end of a comment, and the search takes linear time. Python's `re` and Java's regular expressions,
# which Spark's `rlike` uses, read the patterns alike.

_BREAK = r"\s*(?:--|/\*|\\)"
WORD = r"(?i)publication"
_OBJECTS = r"\s+(?:publication|subscription)"
STATEMENT = (
    rf"(?i)(?:alter|drop)(?:{_BREAK}|{_OBJECTS})"
    rf"|create(?:{_BREAK}|{_OBJECTS}|\s+or(?:{_BREAK}|\s+replace(?:{_BREAK}|\s+publication)))"
)
IDENTITY = r"(?i)replica[^A-Za-z0-9_;]*(?:--|/\*|\\|identity)"
NAMED = r"(?i)publication|subscription"
ACTIONS = r"(?i)create|alter|drop|execute|comment|\\g?set"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# The search is in lower case: it finds the same, because in bytes only ASCII letters have a case, and is five times as
# fast as one that ignores case.
_STATEMENT, _IDENTITY, _DONE = (
    lazy_compile(pattern.removeprefix("(?i)").encode()) for pattern in (STATEMENT, IDENTITY, ACTIONS)
)


def may_publish(content: bytes, lower: bytes | None = None) -> bool:
    """Return whether a file may hold a statement about a publication or a subscription as it is written; ``lower``
    is its content in lower case. Of UTF-16 with a mark that is not known."""
    lower = content.lower() if lower is None else lower
    return content.startswith(UTF16_MARKS) or (b"publication" in lower and _STATEMENT.search(lower) is not None)


def may_matter(path: str, content: bytes, lower: bytes | None = None, *, publishes: bool | None = None) -> bool:
    """Return whether a file may have a finding, by the end of its path and by ``may_publish``."""
    lower = content.lower() if lower is None else lower
    if _in_utf16(content) or (b"replica" in lower and _IDENTITY.search(lower) is not None):
        return True
    if not path.lower().endswith(SUFFIXES):
        return may_publish(content, lower) if publishes is None else publishes
    return (b"publication" in lower or b"subscription" in lower) and _DONE.search(lower) is not None


def _in_utf16(content: bytes) -> bool:
    """Return whether the beginning is a byte order mark, or one of the first two bytes alone is a NUL."""
    return content.startswith(UTF16_MARKS) or (len(content) > 1 and (content[0] == 0) != (content[1] == 0))


# The facts that decide about units.


class Traits(Struct, frozen=True, omit_defaults=True):
    """The facts about a file that decide its unit.

    ``may_publish``: it may hold a statement about a publication; ``identifies``: or about a replica identity;
    ``may_matter``: or anything else that keeps its repository from being skipped in a corpus. ``kind`` is the tool
    whose marks it bears; ``dump`` the major in the header of a pg_dump, 0 if the header has none. ``includes`` are the
    files that its psql commands include, as written. ``order`` is the order in a tool's own list of migrations; for a
    Django migration, the migrations that it replaces; for an ``apps.py``, the label of the application
    (``django_labels``); for a Rails schema, the versions that it holds. ``revision`` is the identifier of an Alembic or
    Django migration and the identifiers that it comes after.
    """

    may_publish: bool = False
    identifies: bool = False
    kind: str | None = None
    dump: int | None = None
    includes: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    revision: tuple[str, ...] = ()
    may_matter: bool = False

    @property
    def concerned(self) -> bool:
        """Whether the file may have findings."""
        return self.may_publish or self.identifies


LISTS = ("sqitch.plan", "_journal.json", "migration_lock.toml", "config.toml")
"""Files in which tools keep what they know of their migrations."""
CHANGELOG = r"(?:changelog[^/]*|(?:^|/)master)\.(?:xml|ya?ml|json)$"
"""Names of Liquibase changelogs, in lower case."""


def is_changelog(path: str) -> bool:
    return path.lower().endswith((".xml", ".yaml", ".yml", ".json")) and bool(re.search(CHANGELOG, path.lower()))


def is_list(name: str) -> bool:
    """Return whether a file is a tool's list of migrations, by its name."""
    return name in LISTS or is_changelog(name)


_OF_DBMATE = b"-- Dbmate schema migrations"
"""The line that dbmate writes into its dump and before which it cuts the header."""
_DUMP = lazy_compile(rb"^-- (?:Dumped from database version (\d+)|PostgreSQL database (?:cluster )?dump\s*$)", re.M)
_NAMES_IDENTITY = lazy_compile(rb"replica\s+identity")
_INCLUDE = lazy_compile(rb"^[^\S\n]*\\(?:i|ir|include|include_relative)[ \t]+'?([^\s';]+)", re.M)
SCRIPT = "script"
"""The kind of a script whose name does not say that it is one."""
_FIRST_LINE = 100


def traits(path: str, content: bytes) -> Traits:
    """Return the facts of a file. Of ``path`` only the end counts."""
    name = path.replace("\\", "/").rpartition("/")[2]
    if name in LISTS:
        return Traits(order=listed_order(name, content))
    content = in_utf8(content)
    order: tuple[str, ...] = ()
    if is_changelog(name) and b"databaseChangeLog" in content:
        order = changelog_entries(content)
    head = content[:HEAD]
    revision = alembic_revision(content) if name.endswith(".py") and b"down_revision" in content else ()
    django = name.endswith(".py") and b"migrations.Migration" in content and b"operations" in content
    if django:
        revision, order = django_revision(path, content)
    elif name == APPS:
        order = django_labels(content)
    lower = content.lower()
    identifies = _NAMES_IDENTITY.search(lower) is not None
    includes = tuple(name.decode(errors="replace") for name in _INCLUDE.findall(content)) if b"\\i" in content else ()
    dump = dump_of(head)
    if dump is None and b"SET statement_timeout" in head and _OF_DBMATE in content:
        dump = 0
    publishes = may_publish(content, lower)
    matters = may_matter(name, content, lower, publishes=publishes)
    if name in (STRUCTURE, SCHEMA):
        order = schema_versions(name, content)
    scripted = may_be_script(name) and interpreter_of(head[:_FIRST_LINE].decode("latin-1")) is not None
    kind = SCRIPT if scripted else "django" if django else kind_of(head)
    return Traits(publishes, identifies, kind, dump, includes, order, revision, matters)


def dump_of(head: bytes) -> int | None:
    """Return the major of the dumped server, 0 if the dump does not name it, None if the file is not a dump."""
    if b"PostgreSQL database" not in head[:2000] and b"Dumped from database version" not in head:
        return None
    majors = [match[1] for match in _DUMP.finditer(head)]
    return int(next((major for major in majors if major), 0)) if majors else None


_MAX_CACHED_BYTES = 16 << 20
"""Bytes of contents that are kept while units are found: those of most repositories."""
_SMALL = 1 << 16
"""Bytes that hold most files."""
_LENGTH = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)


class CachedFileInspector:
    """Opens files to answer questions about them, each once while there is room for its content. ``read`` is called
    for each file that was opened."""

    def __init__(self, read: Callable[[int], object] = lambda _number: None, room: int = _MAX_CACHED_BYTES) -> None:
        self._traits: dict[str, Traits] = {}
        self._names: dict[str, Names] = {}
        self.contents: dict[str, bytes] = {}
        """Contents by path: of files of SQL, and of others that are about replication."""
        self._room = room
        self._opened = read

    def listed(self, number: int) -> None:
        """Note that a folder with ``number`` entries was listed."""

    def expect(self, paths: Sequence[str]) -> None:
        """Prepare for questions about the ``traits`` of these files."""

    def know(self, paths: Sequence[str], inspected: Sequence[tuple[Traits, bytes | None]]) -> None:
        """Take over the traits, and the contents where they are sent, that somebody else found of files."""
        for path, (file_traits, content) in zip(paths, inspected, strict=True):
            self._traits[path] = file_traits
            if content is not None:
                self._keep(path, content)

    def know_content(self, path: str, content: bytes) -> None:
        """Use this content instead of the file on disk."""
        self.contents[path] = content
        self._traits[path] = _traits(path, content)

    def traits(self, path: str) -> Traits:
        file_traits = self._traits.get(path)
        if file_traits is None:
            content = self._read(path)
            file_traits = self._traits[path] = _traits(path, content)
            if not file_traits.concerned and path in self.contents and not path.lower().endswith(SUFFIXES):
                self._room += len(self.contents.pop(path))
        return file_traits

    def kind(self, path: str) -> str | None:
        """Return the kind alone, which the beginning of a file shows."""
        file_traits = self._traits.get(path)
        if file_traits is not None:
            return file_traits.kind
        try:
            if os.path.getsize(path) <= self._room:
                content = self._read(path)
                return None if content is None else kind_of(content[:HEAD])
            with open(path, "rb") as file:
                return kind_of(file.read(HEAD))
        except (OSError, ValueError):
            return None  # reported when the unit is read

    def names(self, path: str, needed: frozenset[str] | None = None) -> Names:
        # Loaded only if files that follow no convention are about publications.
        from pubcheck.discovery.object_names import Names, mentions, names

        file_names = self._names.get(path)
        if file_names is None:
            content = self._read(path)
            if content is None or (needed is not None and not mentions(content, needed)):
                return Names()
            file_names = self._names[path] = names(content)
        return file_names

    def _read(self, path: str) -> bytes | None:
        cached = self.contents.get(path)
        if cached is not None:
            return cached
        try:
            content = content_of(path)
        except (OSError, ValueError):
            return None  # reported when the unit is read
        self._opened(1)
        self._keep(path, content)
        return content

    def _keep(self, path: str, content: bytes) -> None:
        if len(content) <= self._room:
            self._room -= len(content)
            self.contents[path] = content


def _traits(path: str, content: bytes | None) -> Traits:
    # Loaded only where files are grouped: a file given by name rarely lies in a history.
    from pubcheck.discovery.file_facts import Traits, traits

    return Traits() if content is None else traits(path, content)


def content_of(path: str) -> bytes:
    """Return the content of a file, in half the time that `open` takes for a small one.

    Raises OSError, also for an empty pipe (`<(pg_dump ...)`), and ValueError for a path with a NUL.
    """
    descriptor = os.open(path, os.O_RDONLY | _BINARY)
    try:
        pieces: list[bytes] = []
        while piece := os.read(descriptor, _LENGTH if pieces else _SMALL):
            pieces.append(piece)
        if not pieces and not S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "this pipe is empty; did the command that writes to it fail?")
    finally:
        os.close(descriptor)
    return b"".join(pieces)


_JSON_OPENINGS = (b"{", b"[", BOM_UTF8 + b"{", BOM_UTF16_LE + b"{", BOM_UTF16_BE + b"\0{")
_FIRST = 16


def opens_json(content: bytes) -> bool:
    """Return whether a content begins as a snapshot of a database may; no SQL does."""
    return content[:_FIRST].lstrip().startswith(_JSON_OPENINGS)


def begins_as_json(path: str) -> bool:
    """Return whether a path is a file, and not a pipe, that begins as a snapshot of a database may."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb", buffering=0) as file:
            return opens_json(file.read(_FIRST))
    except (OSError, ValueError):
        return False
