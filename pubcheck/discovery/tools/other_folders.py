"""Units of files without an order of their own: dumps, and folders that follow no convention. Units with files of
several folders: a publication and the tables of another folder, and the projects of Supabase."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush

from msgspec.structs import replace

from pubcheck.discovery.conventions import last, parent, project_above
from pubcheck.discovery.file_facts import SCRIPT
from pubcheck.discovery.file_types import LOOSE, language_of, may_be_script
from pubcheck.discovery.tools.file_tree import FileInspector, Tree, UnitCandidate, is_upgrade, shown
from pubcheck.postgres.versions import nearest
from pubcheck.words import word_set

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.object_names import Names

# Join a publication with the unit that creates its tables in another folder. This needs exactly one unit that creates
# the missing tables and contains no publication, and no other unit that publishes them. Units that change these tables
# join too. Tests, examples and documentation only join units next to them.

_ASIDE = word_set("""
    test tests testing __tests__ spec specs e2e fixture fixtures example examples sample samples docs
""")
_FAR = 5
"""Two folders with more steps between them, up and down, belong to different projects of a repository."""
_TEST = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)\.\w+|.*(?:Test|Tests|IT)\.\w+)", re.S)


def joined(
    candidates: list[UnitCandidate], look: FileInspector, offered: Sequence[UnitCandidate] = ()
) -> list[UnitCandidate]:
    """Return the candidates; one that publishes tables of others is merged with them.

    ``offered`` candidates are left out unless one is merged with them.
    """
    own = len(candidates)
    missing = {
        number: missing_names
        for number, candidate in enumerate(candidates)
        if candidate.convention in LOOSE
        and not is_upgrade(candidate.members[0])
        and _publishes(candidate, look)
        and (missing_names := _missing_names(candidate, look))
    }
    if not missing:
        return candidates
    candidates = [*candidates, *offered]
    creators: dict[str, set[int]] = defaultdict(set)
    missing_names = frozenset[str]().union(*missing.values())
    for number, candidate in enumerate(candidates):
        for member in candidate.members:
            for name in missing_names & look.names(member, missing_names).creates:
                creators[name].add(number)
                if len(creators[name]) > 1:  # it is unknown which one creates it
                    missing_names -= {name}
        if not missing_names:
            break
    single = frozenset(name for name, numbers in creators.items() if len(numbers) == 1)
    changers: dict[str, set[int]] = defaultdict(set)
    for number, candidate in enumerate(candidates) if single else ():
        for member in candidate.members if not is_upgrade(candidate.members[0]) else ():
            for name in single & look.names(member, single).needs:
                changers[name].add(number)
    # For each unit, join the units that create its missing tables and those that change them. Without the latter,
    # findings would be certain that are not.
    first: dict[int, set[int]] = {}
    wanted_by: dict[int, set[int]] = defaultdict(set)
    for number, names in missing.items():
        first[number] = {index for name in names & single for index in creators[name]}
        for creator in first[number]:
            wanted_by[creator].add(number)
    result = dict(enumerate(candidates))
    for number, making in first.items():
        changing = {index for name in missing[number] for index in changers[name]} - making - {number}
        if (
            making
            and all(
                (wanted_by[creator] == {number} or creator >= own)
                and _near(candidates[number], candidates[creator], together=creator >= own)
                for creator in making
            )
            and not any(index not in result or _publishes(candidates[index], look) for index in making | changing)
        ):
            before = [result[index] for index in [*sorted(making), *sorted(changing)]]
            for index in [*making, *changing]:
                if index < own:
                    del result[index]
            result[number] = _merged(
                candidates[number], before, [candidates[index].members[0] for index in sorted(making)]
            )
    return [result[number] for number in sorted(result) if number < own]


def _publishes(candidate: UnitCandidate, look: FileInspector) -> bool:
    return any(look.traits(member).may_publish for member in candidate.members)


def _missing_names(candidate: UnitCandidate, look: FileInspector) -> frozenset[str]:
    """Return the relations that the unit's DDL and publications name and none of its files creates."""
    if any(_TEST.fullmatch(member.rpartition("/")[2]) for member in candidate.members):
        return frozenset()
    member_names = [look.names(member) for member in candidate.members]
    created = frozenset[str]().union(*(names.creates for names in member_names))
    return frozenset[str]().union(*(names.needs for names in member_names)) - created


def _near(candidate: UnitCandidate, other: UnitCandidate, *, together: bool = False) -> bool:
    """Return whether two units may build one database: their folders are near each other, and none or both are in a
    folder of tests or examples. Units of the same folder were grouped before, so they are not near unless
    ``together``."""
    mine, theirs = (unit.members[0].split("/")[:-1] for unit in (candidate, other))
    common = next(
        (depth for depth, (own, other) in enumerate(zip(mine, theirs, strict=False)) if own != other),
        None,
    )
    common = min(len(mine), len(theirs)) if common is None else common
    if (mine == theirs and not together) or len(mine) + len(theirs) - 2 * common > _FAR:
        return False
    return not any(part.lower() in _ASIDE for part in (*mine[common:], *theirs[common:]))


def _merged(last: UnitCandidate, before: list[UnitCandidate], creators: list[str]) -> UnitCandidate:
    members = tuple(member for candidate in [*before, last] for member in candidate.members)
    return replace(
        last, members=members, convention="references", reason="its tables are created by", after=tuple(creators)
    )


# Supabase: `supabase/migrations/<time>_<name>.sql` in order, then `supabase/seed.sql`. What lies in `supabase/schemas`
# says again what the migrations do: it is a unit of its own. A script next to the project or in it that changes tables
# of the migrations is run by hand, at some time after them.

_MIGRATION = re.compile(r"\d+[_-].*\.sql", re.S)
"""The files that Supabase's command line runs, and `<time>-<uuid>.sql`, which tools on top of Supabase write."""


_USUAL = 17
"""The major of a project whose configuration names none: the one that Supabase creates projects with."""


def supabase(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in tree.folders():
        project = parent(folder)
        if last(folder) != "migrations" or last(project) != "supabase":
            continue
        files = [(folder, name) for name in tree.sql[folder] if _MIGRATION.fullmatch(name)]
        if files:
            seed = [(project, "seed.sql")] if "seed.sql" in tree.sql.get(project, ()) else []
            reason = "supabase/migrations in order" + (", then seed.sql" if seed else "")
            yield replace(
                tree.take_unit(shown(folder), files + seed, "supabase", reason), postgres=_major(tree, project)
            )
    for folder in tree.folders():
        if last(folder) == "schemas" and last(parent(folder)) == "supabase":
            files = [(subfolder, name) for subfolder in tree.below(folder) for name in tree.sql[subfolder]]
            candidate = tree.take_unit(shown(folder), files, "supabase", "the schema as supabase/schemas declares it")
            yield replace(candidate, postgres=_major(tree, parent(folder)))


def _major(tree: Tree, project: str) -> tuple[int, ...]:
    """Return the server's major in `config.toml`, or the nearest supported one."""
    if "config.toml" not in tree.lists.get(project, ()):
        return (_USUAL,)
    named = tree.look.traits(tree.path(project, "config.toml")).order
    return tuple(nearest(int(major)) for major in named) or (_USUAL,)


def followed(supabase: list[UnitCandidate], look: FileInspector) -> list[UnitCandidate]:
    """Return the candidates, with the migrations as context of the loose scripts that change their tables."""
    projects = {
        parent(parent(candidate.members[0])): candidate
        for candidate in supabase
        if candidate.convention == "supabase" and last(parent(candidate.members[0])) == "migrations"
    }
    return [_following(candidate, projects, look) for candidate in supabase] if projects else supabase


def _following(candidate: UnitCandidate, projects: dict[str, UnitCandidate], look: FileInspector) -> UnitCandidate:
    folders = {parent(member) for member in candidate.members}
    if candidate.convention not in LOOSE or len(folders) != 1:
        return candidate
    folder = folders.pop()
    project = project_above(folder, projects.__contains__)
    if project is None or not any(look.traits(member).concerned for member in candidate.members):
        return candidate
    if not _ASIDE.isdisjoint(folder[len(parent(project)) :].lower().split("/")):
        return candidate  # tests, examples and documentation
    before = projects[project]
    names = [look.names(member) for member in candidate.members]
    missing = frozenset[str]().union(*(names_of_file.needs for names_of_file in names)) - frozenset[str]().union(
        *(names_of_file.creates for names_of_file in names)
    )
    if missing.isdisjoint(name for member in before.members for name in look.names(member, missing).creates):
        return candidate
    return replace(
        candidate,
        members=(*before.members, *candidate.members),
        context=len(before.members),
        convention="supabase",
        reason="run by hand after",
        after=before.members[:1],
    )


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
