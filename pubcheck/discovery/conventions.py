"""Signs of migration tools in the path of a file, or in its first lines: enough to know where its history lies."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache

from pubcheck.lazy_regex import lazy_compile
from pubcheck.words import word_set

INSTALLED = frozenset(["node_modules", "__pycache__"])
"""Folders that hold what tools put there."""
APPS = "apps.py"
"""The file that configures a Django application."""

INITDB = frozenset(["docker-entrypoint-initdb.d", "docker-entrypoint-initdb", "initdb.d", "initdb"])
"""Folders whose files an image of PostgreSQL runs."""

FLYWAY = lazy_compile(r"(?:([VUB])(\d+(?:[._]\d+)*)|(R))__(.*)\.\w+", re.S)
_LOCATIONS = frozenset(["migration", "migrations"])
_VENDORS = word_set("""
    common cockroachdb db2 derby h2 hsqldb mariadb mssql mysql oracle pg postgres postgresql sqlite sqlserver
""")

UP = frozenset(["up", "do", "apply", "forward", "forwards", "upgrade", "deploy"])
DOWN = frozenset(["down", "undo", "rollback", "revert", "reverse", "backward", "backwards", "downgrade", "unapply"])

_FOLDERS = frozenset(["migration", "migrations", "migrate", "versions"])
_ENDS = ("_migrate", "_migrations", "-migrations")
NUMBERED = lazy_compile(
    r"(?:[vm]|(?:script|step|patch|part|update|migration|version|changeset)[ _-]?)?\d+.*", re.S | re.I
)
TIMED = lazy_compile(r"(?:[vm]|migration|version)?(?:20\d{6}_?\d{4,6}|\d{13})\D.*", re.S | re.I)
"""The names of migrations that begin with a time: programs of such names are a history in whatever folder they are."""

_CHANGELOGS = frozenset(["changelog", "changelogs", "liquibase", "db.changelog"])
_MARK = lazy_compile(
    rb"^\s*(?:--|#|//)[-\s]*(?:"
    rb"(?P<goose>\+goose[ \t]+up\b)"
    rb"|(?P<dbmate>migrate:up\b)"
    rb"|(?P<sql_migrate>\+migrate[ \t]+up\b)"
    rb"|(?P<node_pg_migrate>up[ \t]+migration\b)"
    rb"|(?P<evolutions>!ups\b)"
    rb"|(?P<micrate>\+micrate[ \t]+up\b)"
    rb"|(?P<rambler>rambler[ \t]+up\b)"
    rb"|(?P<liquibase>liquibase[ \t]+formatted[ \t]+sql)"
    rb"|(?P<tern>create above / drop below)"
    rb")",
    re.I | re.M,
)
"""The marks of tools that keep the up and the down migration in one file or mark their files in another way."""
_COMMENT_SIGNS = (b"--", b"#", b"//")
HEAD = 4096
"""Bytes of a file that show its kind."""


def last(folder: str) -> str:
    """Return the name of a folder."""
    return folder.rpartition("/")[2]


def parent(folder: str) -> str:
    return folder.rpartition("/")[0]


def flyway_location(folder: str) -> str:
    """Return the folder that Flyway is configured with: it looks for migrations in the folders below it too."""
    above = folder
    while above and last(above) not in _VENDORS:
        if last(above) in _LOCATIONS:
            return above
        above = parent(above)
    return folder


def changelog_folder(folder: str) -> str:
    """Return the folder of a change log, which may have folders in it."""
    above = folder
    while above:
        if last(above) in _CHANGELOGS:
            return above
        above = parent(above)
    return folder


def direction_of(name: str) -> tuple[str, str] | None:
    """ "up" or "down" of a name that says it, and the name without that word."""
    pieces = name.split(".")
    for number in (-3, -2):
        if len(pieces) + number < 0 or not all(pieces[number + 1 :]):
            continue
        word = pieces[number].replace("_", "-").rpartition("-")[2]
        if word.lower() in UP or word.lower() in DOWN:
            end = len(".".join(pieces[: number + 1]))
            return "down" if word.lower() in DOWN else "up", name[: max(end - len(word) - 1, 0)] + name[end:]
    return None


def is_history(folder: str) -> bool:
    """Whether migrations lie in a folder of that name, by custom."""
    return folder.lower() in _FOLDERS or folder.lower().endswith(_ENDS)


def kind_of(head: bytes) -> str | None:
    """Return the tool whose marks begin a file, such as `goose` or `sql-migrate`."""
    if not any(sign in head for sign in _COMMENT_SIGNS):
        return None
    mark = _MARK.search(head)
    return mark.lastgroup.replace("_", "-") if mark is not None and mark.lastgroup else None


# Find the Supabase project of a folder.


def project_above(folder: str, is_project: Callable[[str], bool], top: str = "") -> str | None:
    """Return the nearest project's folder `supabase` at or above a folder, up to ``top``; "/" joins paths."""
    directory = folder
    while True:
        above, _, name = directory.rpartition("/")
        project = (
            directory
            if name == "supabase"
            else f"{directory}/supabase"
            if directory.strip("/")
            else f"{directory}supabase"
        )
        if is_project(project):
            return project
        if directory in (top, above):
            return None
        directory = above


def project_on_disk(folder: str, top: str) -> str | None:
    """Return the nearest project above a folder of this machine, as ``project_above`` has it."""
    return project_above(folder.replace(os.sep, "/"), _is_project, top.replace(os.sep, "/"))


@cache
def _is_project(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in ("config.toml", "migrations"))
