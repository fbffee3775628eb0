"""Sqitch: `deploy/` in the order of `sqitch.plan`; `revert/` and `verify/` are not run."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, shown


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    for folder, names in sorted(tree.lists.items()):
        if "sqitch.plan" not in names:
            continue
        order = tree.look.traits(tree.path(folder, "sqitch.plan")).order
        files = []
        for change in _scripts(order):
            below, _, name = f"deploy/{change}.sql".rpartition("/")
            if name in tree.sql.get(tree.path(folder, below), ()):
                files.append((tree.path(folder, below), name))
        for undoing in ("revert", "verify"):
            for subfolder in list(tree.below(tree.path(folder, undoing))):
                tree.drop(subfolder, tree.sql[subfolder], f"Sqitch runs {undoing}/ only to {undoing}")
        if files:
            yield tree.take_unit(shown(folder), files, "sqitch", "deploy/ in the order of sqitch.plan")


def _scripts(order: tuple[str, ...]) -> list[str]:
    """Return the names of the scripts, without suffix. A change that is reworked later has its first script under the
    name of the tag that followed it."""
    scripts = []
    for number, change in enumerate(order):
        if change.startswith("@"):
            continue
        if change in order[number + 1 :]:
            change += next((tag for tag in order[number:] if tag.startswith("@")), "")
        scripts.append(change)
    return scripts
