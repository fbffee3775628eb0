"""Tools that keep each migration in a folder of its own: Prisma and Drizzle (`migration.sql`), Diesel and Hasura
(`up.sql` next to `down.sql`); in the order of the folders' names."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import last, parent
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, natural, shown

PRISMA = "schema.prisma"


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for name, convention in (("migration.sql", "prisma"), ("up.sql", "up-down")):
        histories: dict[str, list[str]] = {}
        for folder in tree.folders():
            if name in tree.sql[folder] and last(folder)[:1].isdigit():
                histories.setdefault(parent(folder), []).append(folder)
        for history, folders in histories.items():
            for folder in folders:
                tree.drop(
                    folder,
                    [file_name for file_name in tree.sql[folder] if file_name == "down.sql"],
                    "it is the rollback of up.sql",
                )
            files = [(folder, name) for folder in sorted(folders, key=lambda folder: natural(last(folder)))]
            yield tree.take_unit(shown(history), files, convention, f"{name} of each migration's folder")


def schemas(tree: Tree) -> Iterator[UnitCandidate]:
    """Offer Prisma schemas without SQL migrations to files that lack their tables."""
    yield from ()
    for folder in sorted(tree.programs):
        if PRISMA in tree.programs[folder] and not _migrates(tree, folder):
            tree.offer(folder, [PRISMA])


def _migrates(tree: Tree, folder: str) -> bool:
    return "migration_lock.toml" in tree.lists.get(tree.path(folder, "migrations"), ())
