"""Units with files of several folders: a publication and the tables of another folder, and the projects of Supabase."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pubcheck.discovery.conventions import last, parent, project_above
from pubcheck.discovery.file_types import LOOSE
from pubcheck.discovery.tools.file_tree import FileInspector, Tree, UnitCandidate, is_upgrade, shown
from pubcheck.postgres.versions import nearest
from pubcheck.words import word_set

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
