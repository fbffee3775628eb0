"""Files of pg_dump: each is a schema of its own, also where it repeats what the migrations next to it did."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate

RAILS = "structure.sql"


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in tree.folders():
        for name in list(tree.sql[folder]):
            path = tree.path(folder, name)
            major = tree.look.traits(path).dump
            if major is None and name != RAILS:
                continue
            candidate = tree.take_unit(path, [(folder, name)], "rails" if name == RAILS else "dump", _reason(major))
            yield replace(candidate, postgres=(major,)) if major else candidate


def _reason(major: int | None) -> str:
    return f"a dump of PostgreSQL {major}" if major else "a dump"
