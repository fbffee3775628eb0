"""Join a publication with the unit that creates its tables in another folder.

This needs exactly one unit that creates the missing tables and contains no publication, and no other unit that
publishes them. Units that change these tables join too. Tests, examples and documentation only join units next to them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.discovery.file_types import LOOSE
from pubcheck.discovery.tools.file_tree import FileInspector, UnitCandidate, is_upgrade

ASIDE = frozenset(
    [
        "test",
        "tests",
        "testing",
        "__tests__",
        "spec",
        "specs",
        "e2e",
        "fixture",
        "fixtures",
        "example",
        "examples",
        "sample",
        "samples",
        "docs",
    ]
)
_FAR = 5
"""Two folders with more steps between them, up and down, belong to different projects of a repository."""
_TEST = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)\.\w+|.*(?:Test|Tests|IT)\.\w+)", re.S)


def joined(
    groups: list[UnitCandidate], look: FileInspector, offered: Sequence[UnitCandidate] = ()
) -> list[UnitCandidate]:
    """Return the candidates; one that publishes tables of others is merged with them.

    ``offered`` candidates are left out unless one is merged with them.
    """
    own = len(groups)
    missing = {
        number: missing_names
        for number, group in enumerate(groups)
        if group.convention in LOOSE
        and not is_upgrade(group.members[0])
        and _publishes(group, look)
        and (missing_names := _missing(group, look))
    }
    if not missing:
        return groups
    groups = [*groups, *offered]
    creators: dict[str, set[int]] = defaultdict(set)
    missing_names = frozenset[str]().union(*missing.values())
    for number, group in enumerate(groups):
        for member in group.members:
            for name in missing_names & look.names(member, missing_names).creates:
                creators[name].add(number)
                if len(creators[name]) > 1:  # it is unknown which one creates it
                    missing_names -= {name}
        if not missing_names:
            break
    single = frozenset(name for name, numbers in creators.items() if len(numbers) == 1)
    changers: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(groups) if single else ():
        for member in group.members if not is_upgrade(group.members[0]) else ():
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
    result = dict(enumerate(groups))
    for number, making in first.items():
        changing = {index for name in missing[number] for index in changers[name]} - making - {number}
        if (
            making
            and all(
                (wanted_by[creator] == {number} or creator >= own)
                and _near(groups[number], groups[creator], together=creator >= own)
                for creator in making
            )
            and not any(index not in result or _publishes(groups[index], look) for index in making | changing)
        ):
            before = [result[index] for index in [*sorted(making), *sorted(changing)]]
            for index in [*making, *changing]:
                if index < own:
                    del result[index]
            result[number] = _merged(groups[number], before, [groups[index].members[0] for index in sorted(making)])
    return [result[number] for number in sorted(result) if number < own]


def _publishes(group: UnitCandidate, look: FileInspector) -> bool:
    return any(look.traits(member).may_publish for member in group.members)


def _missing(group: UnitCandidate, look: FileInspector) -> frozenset[str]:
    """Return the relations that the unit's DDL and publications name and none of its files creates."""
    if any(_TEST.fullmatch(member.rpartition("/")[2]) for member in group.members):
        return frozenset()
    member_names = [look.names(member) for member in group.members]
    created = frozenset[str]().union(*(names.creates for names in member_names))
    return frozenset[str]().union(*(names.needs for names in member_names)) - created


def _near(group: UnitCandidate, candidate_group: UnitCandidate, *, together: bool = False) -> bool:
    """Return whether two units may build one database: their folders are near each other, and none or both are in a
    folder of tests or examples. Units of the same folder were grouped before, so they are not near unless
    ``together``."""
    mine, theirs = (candidate.members[0].split("/")[:-1] for candidate in (group, candidate_group))
    common = next(
        (
            depth
            for depth, (mine_part, their_part) in enumerate(zip(mine, theirs, strict=False))
            if mine_part != their_part
        ),
        None,
    )
    common = min(len(mine), len(theirs)) if common is None else common
    if (mine == theirs and not together) or len(mine) + len(theirs) - 2 * common > _FAR:
        return False
    return not any(part.lower() in ASIDE for part in (*mine[common:], *theirs[common:]))


def _merged(last: UnitCandidate, before: list[UnitCandidate], creators: list[str]) -> UnitCandidate:
    members = tuple(member for group in [*before, last] for member in group.members)
    return replace(
        last, members=members, convention="references", reason="its tables are created by", after=tuple(creators)
    )
