"""Scripts of psql that run others with `\\i` or `\\ir`: these in the order in which they are named, then the script.

Nothing is known about the statements between the includes: most such scripts hold none, or publish at the end.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator

from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, parent


def plans(tree: Tree) -> Iterator[UnitCandidate]:
    there = {tree.path(folder, name): (folder, name) for folder in tree.folders() for name in tree.sql[folder]}
    includes: dict[str, list[str]] = {}
    for path, (folder, _) in there.items():
        included = [each for written in tree.look.traits(path).includes if (each := _resolved(written, folder, there))]
        if included:
            includes[path] = included
    inner = {each for path, included in includes.items() for each in included if each != path}
    scripts = {path: _flattened(path, includes) for path in includes if path not in inner}
    runs = Counter(each for order in scripts.values() for each in order)
    for path, order in scripts.items():
        # What several scripts run they may run for a database each.
        if all(runs[each] == 1 for each in order):
            yield tree.group(
                path, [there[each] for each in order], "psql", "the files that a psql script includes, then the script"
            )


def _resolved(written: str, folder: str, there: dict[str, tuple[str, str]]) -> str | None:
    """Return the file that is meant: `\\i` starts from where psql was started, which may be any folder above."""
    at = folder
    while True:
        path = posixpath.normpath(posixpath.join(at or ".", written))
        for each in (path, f"./{path}"):
            if each in there:
                return each
        if not at or at == parent(at):
            return None
        at = parent(at)


def _flattened(path: str, includes: dict[str, list[str]]) -> list[str]:
    order: dict[str, None] = {}
    waiting: list[tuple[str, bool]] = [(path, False)]
    met: set[str] = set()
    while waiting:
        each, finished = waiting.pop()
        if finished:
            order[each] = None
        elif each not in met:
            met.add(each)
            waiting.append((each, True))
            waiting += [(below, False) for below in reversed(includes.get(each, ()))]
    return list(order)
