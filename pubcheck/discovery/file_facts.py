"""Facts about a file's bytes that decide whether it matters, and its unit: cheap, found without a parser."""

from __future__ import annotations

import re

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
