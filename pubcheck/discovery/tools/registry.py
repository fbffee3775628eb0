"""Group files into units: every convention is asked in turn.

A convention gets the files that no earlier convention has taken. None opens a file: a ``FileInspector`` answers
questions about a file, from a disk or from a table.
"""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.discovery.tools import (
    annotated,
    changelogs,
    detached_publications,
    django,
    drizzle,
    dumps,
    flyway,
    folder_per_migration,
    initdb,
    name_references,
    numbered,
    psql,
    rails,
    sqitch,
    supabase,
    updown,
)
from pubcheck.discovery.tools.file_tree import Convention, FileInspector, Tree, UnitCandidate

_CONVENTIONS: tuple[Convention, ...] = (
    sqitch.candidates,
    folder_per_migration.candidates,
    drizzle.candidates,
    supabase.candidates,
    flyway.candidates,
    updown.candidates,
    initdb.candidates,
    changelogs.candidates,
    annotated.candidates,
    django.candidates,
    rails.candidates,
    folder_per_migration.schemas,
    psql.candidates,
    numbered.candidates,
    dumps.candidates,
    name_references.candidates,
)


def candidates_of(
    paths: Iterable[str], look: FileInspector, included: frozenset[str] = frozenset()
) -> tuple[list[UnitCandidate], dict[str, str]]:
    """Return the units of a tree of files in the order of its folders, and the skipped files with the reasons.

    Each unit has a name of its own."""
    tree = Tree(paths, look, included)
    candidates = [candidate for convention in _CONVENTIONS for candidate in convention(tree)]
    candidates.sort(key=_place)
    return supabase.followed(detached_publications.joined(candidates, look, tree.offered), look), tree.undone


def _place(candidate: UnitCandidate) -> tuple[list[str], str]:
    folder, _, name = candidate.members[0].rpartition("/")
    return (folder.split("/"), name)
