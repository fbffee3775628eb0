"""A publication whose tables are made in another folder: its file follows the unit that makes them.

Only where there is no doubt: what is missing is made by one unit, which holds no publication, and no other one
publishes its tables; units that change them come along. Tests, examples and documentation are joined with what lies
next to them only.
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
"""Folders between two, up and down, beyond which they are taken for two projects of one repository."""
_TEST = re.compile(r"(?:test_.*|.*[._-](?:test|tests|spec)\.\w+|.*(?:Test|Tests|IT)\.\w+)", re.S)


def joined(
    groups: list[UnitCandidate], look: FileInspector, offered: Sequence[UnitCandidate] = ()
) -> list[UnitCandidate]:
    """Return the groups, with those made one of which one follows the others. Those ``offered`` are left out unless
    another one follows them."""
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
    makers: dict[str, set[int]] = defaultdict(set)
    missing_names = frozenset[str]().union(*missing.values())
    for number, group in enumerate(groups):
        for member in group.members:
            for name in missing_names & look.names(member, missing_names).makes:
                makers[name].add(number)
                if len(makers[name]) > 1:  # there is no telling by which
                    missing_names -= {name}
        if not missing_names:
            break
    single = frozenset(name for name, numbers in makers.items() if len(numbers) == 1)
    changers: dict[str, set[int]] = defaultdict(set)
    for number, group in enumerate(groups) if single else ():
        for member in group.members if not is_upgrade(group.members[0]) else ():
            for name in single & look.names(member, single).needs:
                changers[name].add(number)
    # By unit those that make what it lacks, and those that change what these make: without the latter too much would
    # be certain.
    first: dict[int, set[int]] = {}
    wanted_by: dict[int, set[int]] = defaultdict(set)
    for number, names in missing.items():
        first[number] = {index for name in names & single for index in makers[name]}
        for maker in first[number]:
            wanted_by[maker].add(number)
    result = dict(enumerate(groups))
    for number, making in first.items():
        changing = {index for name in missing[number] for index in changers[name]} - making - {number}
        if (
            making
            and all(
                (wanted_by[maker] == {number} or maker >= own)
                and _near(groups[number], groups[maker], together=maker >= own)
                for maker in making
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
    """Return the relations that the unit's DDL and publications name and that none of its files makes."""
    if any(_TEST.fullmatch(member.rpartition("/")[2]) for member in group.members):
        return frozenset()
    member_names = [look.names(member) for member in group.members]
    created = frozenset[str]().union(*(names.makes for names in member_names))
    return frozenset[str]().union(*(names.needs for names in member_names)) - created


def _near(group: UnitCandidate, candidate_group: UnitCandidate, *, together: bool = False) -> bool:
    """Return whether two units may well be of one database: in two folders that are not far from each other, and if
    one lies aside, with tests or examples, the other lies there too. What belongs together within a folder is known
    before, except what may be ``together`` in one."""
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


def _merged(last: UnitCandidate, before: list[UnitCandidate], makers: list[str]) -> UnitCandidate:
    members = tuple(member for group in [*before, last] for member in group.members)
    return replace(
        last, members=members, convention="references", reason="its tables are created by", after=tuple(makers)
    )
