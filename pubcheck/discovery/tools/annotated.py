"""Tools that mark their files: goose, dbmate, sql-migrate, node-pg-migrate and Play's evolutions keep both ways in one
file, and only the way up is run; Liquibase's formatted SQL holds changesets."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import changelog_folder
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, natural, shown


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    histories: dict[tuple[str, str], list[str]] = {}
    for folder in tree.folders():
        kinds = [kind for name in tree.sql[folder] if (kind := tree.look.traits(tree.path(folder, name)).kind)]
        for kind in dict.fromkeys(kinds):
            histories.setdefault((changelog_folder(folder) if kind == "liquibase" else folder, kind), []).append(folder)
    for (history, kind), folders in histories.items():
        files = []
        for folder in folders:
            for name in tree.sql.get(folder, ()):
                file_kind = tree.look.traits(tree.path(folder, name)).kind
                if file_kind == kind or (file_kind is None and name[:1].isdigit() and kind != "liquibase"):
                    files.append((folder, name))
        files.sort(key=lambda file: natural(tree.path(*file)))
        if files:
            yield tree.take_unit(shown(history), files, kind, f"files with the marks of {kind}, in order")
