"""`docker-entrypoint-initdb.d` of the images of PostgreSQL: .sql and .sh in the order of their names."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import INITDB, last
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, shown


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        if last(folder) not in INITDB:
            continue
        scripts = [name for name in tree.programs.get(folder, ()) if name.endswith(".sh")]
        names = sorted([*tree.sql.get(folder, ()), *scripts])
        if folder in tree.sql or any(tree.look.traits(tree.path(folder, name)).may_publish for name in scripts):
            files = [(folder, name) for name in names]
            yield tree.take_unit(shown(folder), files, "initdb", "in the order in which the image runs them")
