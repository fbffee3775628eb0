"""Flyway: `V1__name.sql` by version, then `R__name.sql` by name; `U1__name.sql` is a rollback and is not run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.discovery.conventions import FLYWAY, flyway_location
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, shown
from pubcheck.lazy_regex import lazy_compile

_CALLBACK = lazy_compile(r"(before|after)(?:Each)?Migrate(?:__.*)?\.sql", re.S)


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    locations: dict[str, list[str]] = {}
    for folder in tree.folders():
        if any(FLYWAY.fullmatch(name) for name in tree.sql[folder]):
            locations.setdefault(flyway_location(folder), []).append(folder)
    for top, folders in locations.items():
        versions = [version for folder in folders for name in tree.sql[folder] if (version := _version(name))]
        if len(set(versions)) == len(versions):
            yield from _candidate(tree, top if len(folders) > 1 else folders[0], folders)
        else:  # one unit per folder, for example per vendor or tenant
            for folder in folders:
                yield from _candidate(tree, folder, [folder])


def _candidate(tree: Tree, name: str, folders: list[str]) -> Iterator[UnitCandidate]:
    ordered: list[tuple[tuple[object, ...], tuple[str, str]]] = []
    baseline: tuple[int, ...] = ()
    concerned = tree.concerned(
        (folder, file)
        for folder in folders
        for file in (*tree.sql[folder], *tree.programs.get(folder, ()))
        if FLYWAY.fullmatch(file)
    )
    for folder in folders:
        for file in [*tree.sql[folder], *tree.programs.get(folder, ())]:
            match, callback = FLYWAY.fullmatch(file), _CALLBACK.fullmatch(file)
            if match is None and callback is None:
                continue
            if match is not None and match[1] == "U":
                tree.drop(folder, [file], "it is a Flyway undo migration")
            elif not concerned and file in tree.programs.get(folder, ()):
                tree.drop(folder, [file], "no file of its history concerns publications")
            elif match is not None and match[2]:
                version = tuple(int(part) for part in re.split(r"[._]", match[2]))
                baseline = max(baseline, version) if match[1] == "B" else baseline
                # A baseline replaces the versions up to its own: of these only the baseline is run.
                ordered.append(((1, version, match[1] != "B", file), (folder, file)))
            elif match is not None:
                ordered.append(((2, match[4], file), (folder, file)))
            elif callback is not None:
                ordered.append(((0 if callback[1] == "before" else 3, file), (folder, file)))
    ordered.sort(key=lambda pair: pair[0])
    files = []
    for key, (folder, file) in ordered:
        if baseline and key[0] == 1 and key[1:3] < (baseline, False):
            tree.drop(folder, [file], "a later baseline replaces it")
        elif baseline and key[0] == 1 and key[1] == baseline and not file.startswith("B"):
            tree.drop(folder, [file], "the baseline of its version replaces it")
        else:
            files.append((folder, file))
    if files:
        yield tree.take_unit(shown(name), files, "flyway", "Flyway's V by version, then R")


def _version(name: str) -> tuple[object, ...] | None:
    match = FLYWAY.fullmatch(name)
    if match is None or match[1] == "U":
        return None
    return (
        match[1],
        match[2] and tuple(int(part) for part in re.split(r"[._]", match[2])),
        match[4] if match[3] else "",
    )
