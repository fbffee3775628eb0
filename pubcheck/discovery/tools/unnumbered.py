"""Units of files without an order of their own: dumps, and folders that follow no convention."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from heapq import heappop, heappush

from msgspec.structs import replace

from pubcheck.discovery.file_facts import SCRIPT
from pubcheck.discovery.file_types import language_of, may_be_script
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, is_upgrade, shown

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.object_names import Names


# Files of pg_dump: each is a schema of its own, also where it repeats what the migrations next to it did.

_RAILS = "structure.sql"


def dumps(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in tree.folders():
        for name in list(tree.sql[folder]):
            path = tree.path(folder, name)
            major = tree.look.traits(path).dump
            if major is None and name != _RAILS:
                continue
            candidate = tree.take_unit(path, [(folder, name)], "rails" if name == _RAILS else "dump", _reason(major))
            yield replace(candidate, postgres=(major,)) if major else candidate


def _reason(major: int | None) -> str:
    return f"a dump of PostgreSQL {major}" if major else "a dump"


# Folders without a convention: files that refer to each other's tables form one unit, CREATE TABLE first. Files that
# create the same tables or the same publication are units of their own; a name that two files create is not used to
# join files. If no file mentions a publication or a replica identity, the folder is one unit.

_TEARS_DOWN = re.compile(
    r"(?:.*[._ -])?(?:drop|drops|teardown|tear_down|tear-down|cleanup|clean|clean_up|clean-up|down|undo|rollback|revert"
    r"|uninstall|destroy|reset)(?:[._ -].*)?\.\w+",
    re.I | re.S,
)
"""Scripts that take all back, by their names: run last they would leave nothing to check."""


def name_references(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in tree.folders():
        yield from _of_folder(tree, folder)
    for folder, names in sorted(tree.programs.items()):
        for name in list(names):
            traits = tree.look.traits(tree.path(folder, name))
            if traits.may_publish and (traits.kind == SCRIPT or not may_be_script(name)):
                program = language_of(name) not in ("sql", "yaml", "xml")
                reason = f"a {'program' if program else 'file'} that holds a publication"
                yield tree.take_unit(tree.path(folder, name), [(folder, name)], "file", reason)


def _of_folder(tree: Tree, folder: str) -> Iterator[UnitCandidate]:
    files = list(tree.sql[folder])
    if len(files) == 1:
        yield tree.take_unit(shown(folder), [(folder, files[0])], "folder", "the only file of its folder")
        return
    traits = {name: tree.look.traits(tree.path(folder, name)) for name in files}
    if not any(names_of_file.concerned for names_of_file in traits.values()):
        yield tree.take_unit(shown(folder), [(folder, name) for name in files], "folder", "the files of a folder")
        return
    names_by_file = {name: tree.look.names(tree.path(folder, name)) for name in files}
    concerned = {name for name, names_of_file in traits.items() if names_of_file.concerned}
    units = group_files(names_by_file, concerned)
    for names in units:
        whole = len(names) == len(files)
        about = not concerned.isdisjoint(names)
        called = (
            shown(folder) if whole or not about or _main(units, concerned) is names else tree.path(folder, names[0])
        )
        if len(names) == 1:
            convention, reason = "file", "it creates its own tables, or no other file of its folder does"
        elif about:
            convention, reason = "references", "files that refer to each other's tables"
        else:
            convention, reason = "folder", "the other files of a folder"
        alternatives = _alternatives({name: names_by_file[name] for name in names})
        shared = [name for name in names if name not in alternatives]
        candidate = tree.take_unit(called, [(folder, name) for name in shared or names], convention, reason)
        yield candidate
        for name in alternatives if shared else ():
            path = tree.path(folder, name)
            alone = tree.take_unit(path, [(folder, name)], "references", "another script adds the same tables; after")
            members, after = (*candidate.members, path), candidate.members[:1]
            yield replace(alone, members=members, context=len(candidate.members), after=after)


def _alternatives(names_by_file: Mapping[str, Names]) -> list[str]:
    """Return the files that are alternatives to each other: they create no table, and add the same tables to a
    publication that no other file creates."""
    adding: dict[tuple[str, str], set[str]] = defaultdict(set)
    creating: dict[str, set[str]] = defaultdict(set)
    for name, names in names_by_file.items():
        for added_publication in () if names.creates else names.adds:
            adding[added_publication].add(name)
        for publication in names.publishes:
            creating[publication].add(name)
    alternatives = set[str]()
    for (publication, _), files in adding.items():
        if len(files) > 1 and creating[publication] <= files:
            alternatives |= files
    return [name for name in names_by_file if name in alternatives]


def _main(units: list[list[str]], concerned: set[str]) -> list[str] | None:
    """Return the only unit of a folder that is not about nothing, which bears its name."""
    about = [names for names in units if not concerned.isdisjoint(names)]
    return about[0] if len(about) == 1 else None


def group_files(names_by_file: Mapping[str, Names], concerned: Container[str]) -> list[list[str]]:
    """Return the groups of files that refer to each other's tables, each in an order in which it can run.

    The groups are ordered by their first names. Files without anything to check join the files to check if these form
    one group; otherwise they form a group.
    """
    rivals = _rivals(names_by_file)
    last = {name for name in names_by_file if _TEARS_DOWN.fullmatch(name)}
    upgrades = set(filter(is_upgrade, names_by_file))
    if any(names.creates for name, names in names_by_file.items() if name not in upgrades):
        last |= upgrades
    alone = rivals | last
    creators_of: dict[str, list[str]] = defaultdict(list)
    for file, names in names_by_file.items():
        for created in (*names.creates, *map(_publication, names.publishes)):
            creators_of[created].append(file)
    after: dict[str, set[str]] = {file: set() for file in names_by_file}
    surely: dict[str, set[str]] = {file: set() for file in names_by_file}
    for file, names in names_by_file.items():
        if file in alone:
            continue
        used_names = {*names.needs, *names.uses, *map(_publication, names.alters)}
        predecessors = {
            creators[0]
            for created in used_names
            if len(creators := creators_of.get(created, [])) == 1 and creators[0] != file
        }
        if names.everything and not names.creates and not rivals:
            predecessors |= {
                creator for creator, theirs in names_by_file.items() if theirs.creates and creator not in alone
            }
        # A file with a rival may still be the only one that creates a table that this file needs.
        if len(predecessors & alone) > 1:
            predecessors -= alone
        after[file] = predecessors - {file}
        surely[file] = after[file] & {creator for name in names.needs for creator in creators_of.get(name, ())}
    groups = _connected(after)
    for group in groups:
        if len(group & alone) > 1:
            for file in group:
                after[file] -= alone
    about, unrelated, separate = list[set[str]](), list[set[str]](), list[set[str]]()
    for group in _connected(after):
        if not group <= last and any(file in concerned for file in group):
            about.append(group)
        else:
            (unrelated if group.isdisjoint(alone) else separate).append(group)
    if unrelated:
        main = about.pop() if len(about) == 1 else set[str]()
        about.append(main.union(*unrelated))
    return sorted((ordered(group, after, surely) for group in [*about, *separate]), key=min)


def _publication(name: str) -> str:
    """Return a publication's name as a key that no relation has."""
    return f"publication {name}"


def _rivals(names_by_file: Mapping[str, Names]) -> set[str]:
    """Return the files that create, without IF NOT EXISTS, a table or publication that another file creates so too."""
    creators_of: dict[str, list[str]] = defaultdict(list)
    for file, names in names_by_file.items():
        for created_name in (*(names.creates - names.creates_if_missing), *map(_publication, names.publishes)):
            creators_of[created_name].append(file)
    return {file for files in creators_of.values() if len(files) > 1 for file in files}


def _connected(after: Mapping[str, Iterable[str]]) -> list[set[str]]:
    neighbours: dict[str, set[str]] = {file: set() for file in after}
    for file, predecessors in after.items():
        for predecessor in predecessors:
            neighbours[file].add(predecessor)
            neighbours[predecessor].add(file)
    groups = []
    grouped: set[str] = set()
    for file in after:
        if file in grouped:
            continue
        group, waiting = {file}, [file]
        while waiting:
            fresh = neighbours[waiting.pop()] - group
            group |= fresh
            waiting += fresh
        grouped |= group
        groups.append(group)
    return groups


def ordered(files: Iterable[str], after: Mapping[str, set[str]], surely: Mapping[str, set[str]]) -> list[str]:
    """Return the files so that each comes after those it is to come after, and else in the order of their names. Where
    that goes in a circle, one goes first that is not ``surely`` to come after another one that is left."""
    unmet = {file: set(after[file]) for file in files}
    followers: dict[str, list[str]] = defaultdict(list)
    for file, predecessors in unmet.items():
        predecessors &= unmet.keys()
        for predecessor in predecessors:
            followers[predecessor].append(file)
    ready = sorted(file for file, predecessors in unmet.items() if not predecessors)
    order: list[str] = []
    while unmet:
        if not ready:
            ready.append(min(unmet, key=lambda file: (not surely[file].isdisjoint(unmet.keys() - {file}), file)))
        file = heappop(ready)
        del unmet[file]
        order.append(file)
        for follower in followers[file]:
            if follower in unmet and file in unmet[follower]:
                unmet[follower].discard(file)
                if not unmet[follower]:
                    heappush(ready, follower)
    return order
