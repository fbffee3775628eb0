"""Liquibase: the files that a change log in XML, YAML or JSON includes, in its order.

They are files in SQL and, if one of them is about replication, change logs with statements of their own.

A change log that includes what cannot be found, or one that cannot be read here, says too little: then the marks of the
files tell what belongs together.
"""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator

from pubcheck.discovery.conventions import parent
from pubcheck.discovery.file_facts import is_changelog
from pubcheck.discovery.file_types import language_of
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    logs = {
        tree.path(folder, name): order
        for folder, names in sorted(tree.lists.items())
        for name in names
        if is_changelog(name) and (order := tree.look.traits(tree.path(folder, name)).order)
    }
    if not logs:
        return
    files_by_path = {tree.path(folder, name): (folder, name) for folder in tree.folders() for name in tree.sql[folder]}
    programs = {
        tree.path(folder, name): (folder, name)
        for folder, names in sorted(tree.programs.items())
        for name in names
        if language_of(name) in ("xml", "yaml")
    }
    # Most that include others have no statements.
    programs = {path: file for path, file in programs.items() if path not in logs or tree.concerned([file])}
    files_by_path |= programs
    known = {
        path: resolved for path, order in logs.items() if (resolved := _resolved(path, order, logs, files_by_path))
    }
    inner = {file_path for path, resolved in known.items() for file_path in resolved if file_path != path}
    for path in known:
        run = _flattened(path, known, files_by_path) if path not in inner else None
        files = [
            files_by_path[file_path]
            for file_path in run or ()
            if file_path in files_by_path and _free(tree, *files_by_path[file_path])
        ]
        if not tree.concerned(files):
            files = [file_path for file_path in files if tree.path(*file_path) not in programs]
        if files:
            yield tree.take_unit(parent(path) or ".", files, "liquibase", "in the order of the change log")


def _free(tree: Tree, folder: str, name: str) -> bool:
    return name in tree.sql.get(folder, ()) or name in tree.programs.get(folder, ())


def _resolved(
    path: str, order: tuple[str, ...], logs: dict[str, tuple[str, ...]], files_by_path: dict[str, tuple[str, str]]
) -> list[str] | None:
    """Return the files and change logs that are meant; None if one of them is not to be found."""
    files: list[str] = []
    for written in order:
        folder = parent(path)
        while True:
            target = posixpath.normpath(posixpath.join(folder or ".", written.rstrip("/")))
            if written.endswith("/"):
                inside = sorted(
                    candidate
                    for candidate in (*files_by_path, *logs)
                    if candidate.startswith(f"{target}/") and candidate != path
                )
            else:
                inside = [target] if target in files_by_path or target in logs else []
            if inside or not folder or folder == parent(folder):
                break
            folder = parent(folder)
        if not inside and not written.endswith("/"):
            return None
        files += inside
    return files


def _flattened(path: str, known: dict[str, list[str]], existing: Container[str]) -> list[str] | None:
    """Return the files in the order in which they are run; None if one of the change logs is not followed. What a
    change log says itself is run before what it includes."""
    order: dict[str, None] = {}
    waiting, met = [path], set()
    while waiting:
        current = waiting.pop()
        if current in known and current not in met:
            met.add(current)
            if current in existing:
                order.setdefault(current)
            waiting += reversed(known[current])
        elif is_changelog(current) and current not in met and current not in existing:
            return None
        else:
            order.setdefault(current)
    return list(order)
