"""Find the root of the migration history of a single file: the folders to search for its unit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from pubcheck.discovery.conventions import (
    DOWN,
    FLYWAY,
    INITDB,
    INSTALLED,
    NUMBERED,
    TIMED,
    UP,
    changelog_folder,
    direction_of,
    flyway_location,
    is_history,
    project_on_disk,
)
from pubcheck.discovery.file_types import SUFFIXES, language_of
from pubcheck.gitignore import top_of

_DEEPEST = 6
"""The number of folders that are searched for a project, upwards from a script's folder."""
_SQITCH = frozenset(["deploy", "revert", "verify"])


def history_of(path: str, kind_of: Callable[[str], str | None]) -> Iterator[tuple[str, ...]]:
    """Yield the sets of folders and files that may contain a file's whole history, the likeliest first.

    Most files have none. ``path`` is absolute; ``kind_of`` returns the tool whose marks a file contains. Folders
    outside the Git repository of the file are left out.
    """
    folder, name = os.path.split(path)
    for places in _places(folder, name, path, kind_of):
        root = top_of(folder)
        if root is None or all((place + os.sep).startswith(os.path.join(root, "")) for place in places):
            yield places


def _places(folder: str, name: str, path: str, kind_of: Callable[[str], str | None]) -> Iterator[tuple[str, ...]]:
    above, last = os.path.split(folder)
    if last == "migrations" and os.path.basename(above) == "supabase":
        # Not the whole folder `supabase`: its functions may be large.
        yield folder, os.path.join(above, "seed.sql"), os.path.join(above, "config.toml")
    if name.lower().endswith(SUFFIXES):
        project = project_on_disk(folder, _top(folder))
        if project is not None and os.path.isdir(migrations := os.path.join(project, "migrations")):
            yield migrations, path, os.path.join(project, "config.toml")
    if last == "schemas" and os.path.basename(above) == "supabase":
        yield folder, os.path.join(above, "config.toml")
    if name in ("migration.sql", "up.sql", "down.sql") and last[:1].isdigit():
        yield (above,)
    if os.path.isfile(os.path.join(folder, "meta", "_journal.json")):
        yield (folder,)
    if not _SQITCH.isdisjoint(folder.split(os.sep)):
        directory = folder
        while directory != os.path.dirname(directory):
            directory = os.path.dirname(directory)
            if os.path.isfile(os.path.join(directory, "sqitch.plan")):
                yield (directory,)
    if "__" in name and FLYWAY.fullmatch(name):
        yield (flyway_location(folder.replace(os.sep, "/")).replace("/", os.sep),)
    if direction_of(name) is not None:
        yield (folder,)
    if last.lower() in UP | DOWN:
        yield (above,)
    if last in INITDB:
        yield (folder,)
    kind = kind_of(path) if name.lower().endswith(".sql") else None
    if kind is not None:
        yield (changelog_folder(folder.replace(os.sep, "/")).replace("/", os.sep) if kind == "liquibase" else folder,)
    if last == "migrations" and name.endswith(".py") and name[:1].isdigit():
        yield tuple(_applications(folder))
    if last == "migrate" and name.endswith(".rb"):
        schema_files = [os.path.join(above, file_name) for file_name in ("structure.sql", "schema.rb")]
        yield *[file_name for file_name in schema_files if os.path.isfile(file_name)][:1], folder
    program = language_of(name) is not None
    if (program or NUMBERED.fullmatch(name)) if is_history(last) else (program and TIMED.fullmatch(name)):
        yield (folder,)


def _top(folder: str) -> str:
    """Return the highest folder to search for a project: that of the Git repository, or ``_DEEPEST`` levels up."""
    return top_of(folder) or os.path.join(os.sep, *folder.split(os.sep)[1:-_DEEPEST])


def _applications(folder: str) -> Iterator[str]:
    """Yield all folders of migrations of the Django project that ``folder``, one of them, belongs to."""
    top, directory, root = os.path.dirname(folder), folder, top_of(folder) or folder
    while directory.startswith(root) and directory != os.path.dirname(directory):
        directory = os.path.dirname(directory)
        if os.path.isfile(os.path.join(directory, "manage.py")):
            top = directory
            break
    for place, folders, _ in os.walk(top):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in (*INSTALLED, "site-packages")
        )
        if os.path.basename(place) == "migrations":
            yield place
            folders.clear()
