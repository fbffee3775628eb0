"""Scripts of psql that run others with `\\i` or `\\ir`: the script, then these in the order in which they are named.

The engine runs each of them where the script includes it.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator

from pubcheck.discovery.conventions import parent
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    files_by_path = {tree.path(folder, name): (folder, name) for folder in tree.folders() for name in tree.sql[folder]}
    includes: dict[str, list[str]] = {}
    for path, (folder, _) in files_by_path.items():
        included = [
            included_path
            for written in tree.look.traits(path).includes
            if (included_path := _resolved(written, folder, files_by_path))
        ]
        if included:
            includes[path] = included
    inner = {name for path, included in includes.items() for name in included if name != path}
    scripts = {path: _flattened(path, includes) for path in includes if path not in inner}
    runs = Counter(included_path for order in scripts.values() for included_path in order)
    for path, order in scripts.items():
        # What several scripts run they may run for a database each.
        if all(runs[included_path] == 1 for included_path in order):
            yield tree.take_unit(
                path,
                [files_by_path[included_path] for included_path in order],
                "psql",
                "a psql script and the files that it includes",
            )


def _resolved(written: str, folder: str, files_by_path: dict[str, tuple[str, str]]) -> str | None:
    """Return the file that is meant: `\\i` starts from where psql was started, which may be any folder above."""
    directory = folder
    while True:
        path = posixpath.normpath(posixpath.join(directory or ".", written))
        for candidate in (path, f"./{path}"):
            if candidate in files_by_path:
                return candidate
        if not directory or directory == parent(directory):
            return None
        directory = parent(directory)


def _flattened(path: str, includes: dict[str, list[str]]) -> list[str]:
    order: dict[str, None] = {}
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current not in order:
            order[current] = None
            waiting += reversed(includes.get(current, ()))
    return list(order)
