"""Folders of numbered files, in the order of the numbers: those of migrations, whoever runs them, and others whose
files do not make the same tables. Migrations in other languages take part when the history is about a publication or a
replica identity."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.patterns import pattern_later
from pubcheck.sources.units.tree import Group, Tree, last, natural, shown

_FOLDERS = frozenset(["migration", "migrations", "migrate", "versions"])
_ENDS = ("_migrate", "_migrations", "-migrations")

NUMBERED = pattern_later(r"(?:v|(?:script|step|patch|part|update|migration|changeset)[ _-]?)?\d+.*", re.S | re.I)


def is_history(folder: str) -> bool:
    """Whether migrations lie in a folder of that name, by custom."""
    return folder.lower() in _FOLDERS or folder.lower().endswith(_ENDS)


def plans(tree: Tree) -> Iterator[Group]:
    for folder in sorted({*tree.sql, *tree.programs}):
        history = is_history(last(folder))
        names = [name for name in tree.sql.get(folder, ()) if NUMBERED.fullmatch(name)]
        programs = _programs(tree, folder, names) if history else []
        if len(names) < (1 if history else 2) and not programs:
            continue
        if not history and _same_tables(tree, folder, names):
            continue
        files = [(folder, name) for name in _ordered(tree, folder, [*names, *programs])]
        habit = "migrations" if history else "numbered"
        yield tree.group(shown(folder), files, habit, "numbered files in order")


def _programs(tree: Tree, folder: str, names: list[str]) -> list[str]:
    """The migrations of a history that are programs, if any migration of it, or of the ``names``, is about a
    publication or a replica identity."""
    known = {name: tree.look.traits(tree.path(folder, name)) for name in tree.programs.get(folder, ())}
    programs = [name for name, traits in known.items() if traits.revision or NUMBERED.fullmatch(name) is not None]
    concerned = any(known[name].concerned for name in programs)
    if not concerned and programs:
        concerned = any(tree.look.traits(tree.path(folder, name)).concerned for name in names)
    return programs if concerned else []


def _same_tables(tree: Tree, folder: str, names: list[str]) -> bool:
    """Whether half of the files make a table that another one makes: then they are no history, but databases."""
    if not any(tree.look.traits(tree.path(folder, name)).concerned for name in names):
        return False
    made: set[str] = set()
    makers = repeated = 0
    for name in names:
        found = tree.look.names(tree.path(folder, name))
        makes = found.makes - found.makes_again
        makers += bool(makes)
        repeated += not makes.isdisjoint(made)
        made |= makes
    return repeated > 0 and 2 * repeated >= makers


def _ordered(tree: Tree, folder: str, names: list[str]) -> list[str]:
    """By number; Alembic's by which comes after which."""
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
            at = waiting[-1]
            left = [each for each in after[at] if each in files and each not in chain and each not in waiting]
            if left:
                waiting.append(left[0])
            else:
                chain[waiting.pop()] = None
    wanted = set(names)
    return [
        *sorted(wanted - set(files.values()), key=natural),
        *(files[each] for each in chain if files[each] in wanted),
    ]
