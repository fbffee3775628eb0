"""Pairs of an up and a down migration. Only the up migrations are run, in the order of their numbers.

Examples are `1_x.up.sql` and `1_x.down.sql` (golang-migrate, sqlx), `001.do.x.sql` and `001.undo.x.sql` (Postgrator),
and the folders `up/` and `down/`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import DOWN, UP, direction_of, last, parent
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, natural, shown

_REASON = "it is a rollback file"


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    yield from _folders(tree)
    for folder in tree.folders():
        names = tree.sql[folder]
        directions = {name: direction for name in names if (direction := direction_of(name))}
        downs = {name: rest for name, (which, rest) in directions.items() if which == "down"}
        ups = {name: rest for name, (which, rest) in directions.items() if which == "up"}
        existing = {*ups.values(), *names}
        undone = [name for name, rest in downs.items() if rest in existing]
        paired = set(downs.values())
        certain = [name for name, rest in ups.items() if rest in paired or ".up." in name or ".do." in name]
        plain = [name for name in names if name in paired]
        if not undone and not certain:
            continue
        tree.drop(folder, undone, _REASON)
        # Files with the same numbering are run with them: a migration without a rollback has no pair.
        files = [
            name
            for name in names
            if name not in undone and (name in certain or name in plain or (name[:1].isdigit() and name not in downs))
        ]
        ordered = sorted(files, key=lambda name: (natural(name.partition(".")[0]), name))
        yield tree.take_unit(shown(folder), [(folder, name) for name in ordered], "up-down", "up migrations in order")


def _folders(tree: Tree) -> Iterator[UnitCandidate]:
    known = set(tree.sql)
    for folder in tree.folders():
        if last(folder).lower() not in DOWN:
            continue
        parent_folder = parent(folder)
        ups = [up_folder for up_folder in (tree.path(parent_folder, name) for name in sorted(UP)) if up_folder in known]
        if ups or any(name[:1].isdigit() for name in tree.sql.get(parent_folder, ())):
            tree.drop(folder, list(tree.sql[folder]), _REASON)
        for up in ups:
            if up in tree.sql:
                files = [(up, name) for name in sorted(tree.sql[up], key=natural)]
                yield tree.take_unit(shown(up), files, "up-down", f"{last(up)}/ next to {last(folder)}/")
