"""Supabase: `supabase/migrations/<time>_<name>.sql` in order, then `supabase/seed.sql`.

What lies in `supabase/schemas` says again what the migrations do: it is a unit of its own. A script next to the project
or in it that changes tables of the migrations is run by hand, at some time after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.discovery.conventions import last, parent
from pubcheck.discovery.file_types import LOOSE
from pubcheck.discovery.supabase_project import project_above
from pubcheck.discovery.tools import detached_publications
from pubcheck.discovery.tools.file_tree import FileInspector, Tree, UnitCandidate, shown
from pubcheck.postgres.versions import nearest

_MIGRATION = re.compile(r"\d+[_-].*\.sql", re.S)
"""The files that Supabase's command line runs, and `<time>-<uuid>.sql`, which tools on top of Supabase write."""


_USUAL = 17
"""The major of a project whose configuration names none: the one that Supabase creates projects with."""


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
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


def followed(candidates: list[UnitCandidate], look: FileInspector) -> list[UnitCandidate]:
    """Return the candidates, with the migrations as context of the loose scripts that change their tables."""
    projects = {
        parent(parent(candidate.members[0])): candidate
        for candidate in candidates
        if candidate.convention == "supabase" and last(parent(candidate.members[0])) == "migrations"
    }
    return [_following(candidate, projects, look) for candidate in candidates] if projects else candidates


def _following(candidate: UnitCandidate, projects: dict[str, UnitCandidate], look: FileInspector) -> UnitCandidate:
    folders = {parent(member) for member in candidate.members}
    if candidate.convention not in LOOSE or len(folders) != 1:
        return candidate
    folder = folders.pop()
    project = project_above(folder, projects.__contains__)
    if project is None or not any(look.traits(member).concerned for member in candidate.members):
        return candidate
    if not detached_publications.ASIDE.isdisjoint(folder[len(parent(project)) :].lower().split("/")):
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
