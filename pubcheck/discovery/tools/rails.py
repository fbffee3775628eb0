"""Rails: migrations that `structure.sql`, or `schema.rb`, does not hold yet run after it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.discovery.migration_lists import SCHEMA, STRUCTURE
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, natural

_VERSION = re.compile(r"(\d{8,})_.*\.rb", re.S)


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        migrate = tree.path(folder, "migrate")
        names = tree.programs.get(migrate, [])
        base = next((schema_file for schema_file in (STRUCTURE, SCHEMA) if schema_file in _files(tree, folder)), None)
        if base is None or not names:
            continue
        versions = tree.look.traits(tree.path(folder, base)).order
        later = [(migrate, name) for name in sorted(names, key=natural) if _comes_after(name, versions, base)]
        if later and tree.concerned([(folder, base), *later]):
            reason = f"{base}, then the migrations that it does not contain"
            yield tree.take_unit(tree.path(folder, base), [(folder, base), *later], "migrations", reason)


def _files(tree: Tree, folder: str) -> list[str]:
    return [*tree.sql.get(folder, ()), *tree.programs.get(folder, ())]


def _comes_after(name: str, versions: tuple[str, ...], base: str) -> bool:
    version = _VERSION.fullmatch(name)
    if version is None or not versions:
        return False
    return version[1] not in versions if base == STRUCTURE else int(version[1]) > int(versions[-1])
