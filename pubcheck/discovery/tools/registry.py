"""Group files into units: every convention is asked in turn.

A convention gets the files that no earlier convention has taken. None opens a file: a ``FileInspector`` answers
questions about a file, from a disk or from a table.
"""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.discovery.tools import file_names, lists, other_folders
from pubcheck.discovery.tools.file_tree import Convention, FileInspector, Tree, UnitCandidate

_CONVENTIONS: tuple[Convention, ...] = (
    lists.sqitch,
    file_names.folder_per_migration,
    lists.drizzle,
    other_folders.supabase,
    file_names.flyway,
    file_names.updown,
    file_names.initdb,
    lists.liquibase,
    file_names.annotated,
    lists.django,
    lists.rails,
    file_names.prisma_schemas,
    lists.psql,
    file_names.numbered,
    other_folders.dumps,
    other_folders.name_references,
)


def candidates_of(
    paths: Iterable[str], look: FileInspector, included: frozenset[str] = frozenset()
) -> tuple[list[UnitCandidate], dict[str, str]]:
    """Return the units of a tree of files in the order of its folders, and the skipped files with the reasons.

    Each unit has a name of its own."""
    tree = Tree(paths, look, included)
    candidates = [candidate for convention in _CONVENTIONS for candidate in convention(tree)]
    candidates.sort(key=_place)
    return other_folders.followed(other_folders.joined(candidates, look, tree.offered), look), tree.undone


def _place(candidate: UnitCandidate) -> tuple[list[str], str]:
    folder, _, name = candidate.members[0].rpartition("/")
    return (folder.split("/"), name)
