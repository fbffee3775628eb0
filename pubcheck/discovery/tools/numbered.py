"""Folders of numbered files, in the order of the numbers: those of migrations, whoever runs them, and others whose
files do not create the same tables. Migrations in other languages are part of them if any file is about
replication."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.discovery.conventions import NUMBERED, TIMED, is_history, last, parent
from pubcheck.discovery.migration_lists import SCHEMA, STRUCTURE
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, natural, shown
from pubcheck.lazy_regex import lazy_compile

_FEWEST = 3
"""The number of files that must create the same table before they are separate units, and not a history in which it is
recreated."""
_GENERATED = lazy_compile(r"\.Designer\.cs$|ModelSnapshot\.cs$")
"""Files that Entity Framework keeps next to its migrations."""


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        history = is_history(last(folder))
        names = [name for name in tree.sql.get(folder, ()) if NUMBERED.fullmatch(name)]
        programs = _migrations(tree, folder, names, NUMBERED if history else TIMED)
        if len(names) < (1 if history else 2) and not programs:
            continue
        if _fixtures(tree, folder, names) or (not (history or programs) and _same_tables(tree, folder, names)):
            continue
        files = [(folder, name) for name in _ordered(tree, folder, [*names, *programs])]
        convention = "migrations" if history or programs else "numbered"
        yield tree.take_unit(shown(folder), files, convention, "numbered files in order")


def _migrations(tree: Tree, folder: str, names: list[str], number: re.Pattern[str]) -> list[str]:
    """Return the programs of a history: all of them if one of its files may be about replication, because another one
    may create the tables that it publishes. ``names`` are its files in SQL, ``number`` is what names of programs
    match."""
    programs = [
        name
        for name in tree.programs.get(folder, ())
        if (number.fullmatch(name) is not None and not _GENERATED.search(name))
        or tree.look.traits(tree.path(folder, name)).revision
    ]
    if tree.concerned((folder, name) for name in [*programs, *names]):
        return programs
    siblings = frozenset(tree.sql.get(parent(folder), ())) | frozenset(tree.programs.get(parent(folder), ()))
    if programs and last(folder) == "migrate" and SCHEMA in siblings:
        tree.offer(parent(folder), [SCHEMA])
    elif programs and not names and not (last(folder) == "migrate" and STRUCTURE in siblings):
        tree.offer(folder, _ordered(tree, folder, programs))
    return []


def _fixtures(tree: Tree, folder: str, names: list[str]) -> bool:
    """Return whether all files that create tables create the same one. Each is then a unit of its own."""
    if len(names) < _FEWEST or not tree.concerned((folder, name) for name in names):
        return False
    common: frozenset[str] | None = None
    creators = 0
    for name in names:
        new_tables = tree.look.names(tree.path(folder, name)).creates
        if new_tables:
            creators += 1
            common = new_tables if common is None else common & new_tables
            if not common:
                return False
    return creators >= _FEWEST


def _same_tables(tree: Tree, folder: str, names: list[str]) -> bool:
    """Return whether half of the files create a table that another file creates too. They are then separate units."""
    if not any(tree.look.traits(tree.path(folder, name)).concerned for name in names):
        return False
    created: set[str] = set()
    creators = repeated = 0
    for name in names:
        file_names = tree.look.names(tree.path(folder, name))
        new_tables = file_names.creates - file_names.creates_if_missing
        creators += bool(new_tables)
        repeated += not new_tables.isdisjoint(created)
        created |= new_tables
    return repeated > 0 and 2 * repeated >= creators


def _ordered(tree: Tree, folder: str, names: list[str]) -> list[str]:
    """Order the files by number; those of Alembic by their chain of revisions."""
    after: dict[str, tuple[str, ...]] = {}
    files: dict[str, str] = {}
    for name in tree.programs.get(folder, ()):
        revision = tree.look.traits(tree.path(folder, name)).revision if name.endswith(".py") else ()
        if revision:
            files[revision[0]], after[revision[0]] = name, revision[1:]
    if not files:
        return sorted(names, key=natural)
    chain: dict[str, None] = {}
    for start in sorted(files, key=files.__getitem__):
        waiting = [start]
        while waiting:
            current = waiting[-1]
            unlisted = [name for name in after[current] if name in files and name not in chain and name not in waiting]
            if unlisted:
                waiting.append(unlisted[0])
            else:
                chain[waiting.pop()] = None
    selected = set(names)
    return [
        *sorted(selected - set(files.values()), key=natural),
        *(files[successor] for successor in chain if files[successor] in selected),
    ]
