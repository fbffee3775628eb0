"""Drizzle: the migrations that `meta/_journal.json` lists, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import last, parent
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, shown


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for meta, names in sorted(tree.lists.items()):
        folder = parent(meta)
        if "_journal.json" not in names or last(meta) != "meta" or folder not in tree.sql:
            continue
        order = tree.look.traits(tree.path(meta, "_journal.json")).order
        existing = set(tree.sql[folder])
        files = [(folder, f"{tag}.sql") for tag in dict.fromkeys(order) if f"{tag}.sql" in existing]
        if files:
            yield tree.take_unit(shown(folder), files, "drizzle", "in the order of meta/_journal.json")
