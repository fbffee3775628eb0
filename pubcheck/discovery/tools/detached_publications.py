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
    """The groups, with those made one of which one follows the others. Those ``offered`` are left out unless another
    one follows them."""
    own = len(groups)
    missing = {
        number: wanted
        for number, group in enumerate(groups)
        if group.convention in LOOSE
        and not is_upgrade(group.members[0])
        and _publishes(group, look)
        and (wanted := _missing(group, look))
    }
    if not missing:
        return groups
    groups = [*groups, *offered]
    makers: dict[str, set[int]] = defaultdict(set)
    wanted = frozenset[str]().union(*missing.values())
    for number, group in enumerate(groups):
        for member in group.members:
            for name in wanted & look.names(member, wanted).makes:
                makers[name].add(number)
                if len(makers[name]) > 1:  # there is no telling by which
                    wanted -= {name}
        if not wanted:
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
        first[number] = {one for name in names & single for one in makers[name]}
        for other in first[number]:
            wanted_by[other].add(number)
    result = dict(enumerate(groups))
    for number, others in first.items():
        then = {one for name in missing[number] for one in changers[name]} - others - {number}
        if (
            others
            and all(
                (wanted_by[other] == {number} or other >= own)
                and _near(groups[number], groups[other], together=other >= own)
                for other in others
            )
            and not any(each not in result or _publishes(groups[each], look) for each in others | then)
        ):
            before = [result[each] for each in [*sorted(others), *sorted(then)]]
            for each in [*others, *then]:
                if each < own:
                    del result[each]
            result[number] = _merged(groups[number], before, [groups[each].members[0] for each in sorted(others)])
    return [result[number] for number in sorted(result) if number < own]


def _publishes(group: UnitCandidate, look: FileInspector) -> bool:
    return any(look.traits(member).may_publish for member in group.members)


def _missing(group: UnitCandidate, look: FileInspector) -> frozenset[str]:
    """The relations that the unit's DDL and publications name and that none of its files makes."""
    if any(_TEST.fullmatch(member.rpartition("/")[2]) for member in group.members):
        return frozenset()
    known = [look.names(member) for member in group.members]
    made = frozenset[str]().union(*(names.makes for names in known))
    return frozenset[str]().union(*(names.needs for names in known)) - made


def _near(group: UnitCandidate, other: UnitCandidate, *, together: bool = False) -> bool:
    """Whether two units may well be of one database: in two folders that are not far from each other, and if one lies
    aside, with tests or examples, the other lies there too. What belongs together within a folder is known before,
    except what may be ``together`` in one."""
    mine, theirs = (each.members[0].split("/")[:-1] for each in (group, other))
    common = next((at for at, (one, two) in enumerate(zip(mine, theirs, strict=False)) if one != two), None)
    common = min(len(mine), len(theirs)) if common is None else common
    if (mine == theirs and not together) or len(mine) + len(theirs) - 2 * common > _FAR:
        return False
    return not any(part.lower() in ASIDE for part in (*mine[common:], *theirs[common:]))


def _merged(last: UnitCandidate, before: list[UnitCandidate], makers: list[str]) -> UnitCandidate:
    members = tuple(member for group in [*before, last] for member in group.members)
    return replace(
        last, members=members, convention="references", reason="its tables are created by", after=tuple(makers)
    )
