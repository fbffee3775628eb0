"""Supabase: `supabase/migrations/<time>_<name>.sql` in order, then `supabase/seed.sql`.

What lies in `supabase/schemas` says again what the migrations do: it is a unit of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.sources.units.tree import Group, Tree, last, parent, shown

_MIGRATION = re.compile(r"\d+_.*\.sql", re.S)
"""What the command line of Supabase runs; it passes over files of other names."""


def plans(tree: Tree) -> Iterator[Group]:
    for folder in tree.folders():
        project = parent(folder)
        if last(folder) != "migrations" or last(project) != "supabase":
            continue
        files = [(folder, name) for name in tree.sql[folder] if _MIGRATION.fullmatch(name)]
        if files:
            seed = [(project, "seed.sql")] if "seed.sql" in tree.sql.get(project, ()) else []
            reason = "supabase/migrations in order" + (", then seed.sql" if seed else "")
            yield tree.group(shown(folder), files + seed, "supabase", reason)
    for folder in tree.folders():
        if last(folder) == "schemas" and last(parent(folder)) == "supabase":
            files = [(each, name) for each in tree.below(folder) for name in tree.sql[each]]
            yield tree.group(shown(folder), files, "supabase", "the schema as supabase/schemas declares it")
