"""Units whose order is that of the names of their files or folders: numbered and marked migrations of many tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.discovery.conventions import (
    DOWN,
    FLYWAY,
    INITDB,
    NUMBERED,
    TIMED,
    UP,
    changelog_folder,
    direction_of,
    flyway_location,
    is_history,
    last,
    parent,
)
from pubcheck.discovery.migration_lists import SCHEMA, STRUCTURE
from pubcheck.discovery.tools.file_tree import Tree, UnitCandidate, in_dependency_order, natural, shown
from pubcheck.lazy_regex import lazy_compile

# Tools that keep each migration in a folder of its own: Prisma and Drizzle (`migration.sql`), Diesel and Hasura
# (`up.sql` next to `down.sql`); in the order of the folders' names.

_PRISMA = "schema.prisma"


def folder_per_migration(tree: Tree) -> Iterator[UnitCandidate]:
    for name, convention in (("migration.sql", "prisma"), ("up.sql", "up-down")):
        histories: dict[str, list[str]] = {}
        for folder in tree.folders():
            if name in tree.sql[folder] and last(folder)[:1].isdigit():
                histories.setdefault(parent(folder), []).append(folder)
        for history, folders in histories.items():
            for folder in folders:
                tree.drop(
                    folder,
                    [file_name for file_name in tree.sql[folder] if file_name == "down.sql"],
                    "it is the rollback of up.sql",
                )
            files = [(folder, name) for folder in sorted(folders, key=lambda folder: natural(last(folder)))]
            yield tree.take_unit(shown(history), files, convention, f"{name} of each migration's folder")


def prisma_schemas(tree: Tree) -> Iterator[UnitCandidate]:
    """Offer Prisma schemas without SQL migrations to files that lack their tables."""
    yield from ()
    for folder in sorted(tree.programs):
        if _PRISMA in tree.programs[folder] and not _has_migrations(tree, folder):
            tree.offer(folder, [_PRISMA])


def _has_migrations(tree: Tree, folder: str) -> bool:
    return "migration_lock.toml" in tree.lists.get(tree.path(folder, "migrations"), ())


# Flyway: `V1__name.sql` by version, then `R__name.sql` by name; `U1__name.sql` is a rollback and is not run.

_CALLBACK = lazy_compile(r"(before|after)(?:Each)?Migrate(?:__.*)?\.sql", re.S)


def flyway(tree: Tree) -> Iterator[UnitCandidate]:
    locations: dict[str, list[str]] = {}
    for folder in tree.folders():
        if any(FLYWAY.fullmatch(name) for name in tree.sql[folder]):
            locations.setdefault(flyway_location(folder), []).append(folder)
    for top, folders in locations.items():
        versions = [version for folder in folders for name in tree.sql[folder] if (version := _version(name))]
        if len(set(versions)) == len(versions):
            yield from _location(tree, top if len(folders) > 1 else folders[0], folders)
        else:  # one unit per folder, for example per vendor or tenant
            for folder in folders:
                yield from _location(tree, folder, [folder])


def _location(tree: Tree, name: str, folders: list[str]) -> Iterator[UnitCandidate]:
    ordered: list[tuple[tuple[object, ...], tuple[str, str]]] = []
    baseline: tuple[int, ...] = ()
    concerned = tree.concerned(
        (folder, file)
        for folder in folders
        for file in (*tree.sql[folder], *tree.programs.get(folder, ()))
        if FLYWAY.fullmatch(file)
    )
    for folder in folders:
        for file in [*tree.sql[folder], *tree.programs.get(folder, ())]:
            match, callback = FLYWAY.fullmatch(file), _CALLBACK.fullmatch(file)
            if match is None and callback is None:
                continue
            if match is not None and match[1] == "U":
                tree.drop(folder, [file], "it is a Flyway undo migration")
            elif not concerned and file in tree.programs.get(folder, ()):
                tree.drop(folder, [file], "no file of its history concerns publications")
            elif match is not None and match[2]:
                version = tuple(int(part) for part in re.split(r"[._]", match[2]))
                baseline = max(baseline, version) if match[1] == "B" else baseline
                # A baseline replaces the versions up to its own: of these only the baseline is run.
                ordered.append(((1, version, match[1] != "B", file), (folder, file)))
            elif match is not None:
                ordered.append(((2, match[4], file), (folder, file)))
            elif callback is not None:
                ordered.append(((0 if callback[1] == "before" else 3, file), (folder, file)))
    ordered.sort(key=lambda pair: pair[0])
    files = []
    for key, (folder, file) in ordered:
        if baseline and key[0] == 1 and key[1:3] < (baseline, False):
            tree.drop(folder, [file], "a later baseline replaces it")
        elif baseline and key[0] == 1 and key[1] == baseline and not file.startswith("B"):
            tree.drop(folder, [file], "the baseline of its version replaces it")
        else:
            files.append((folder, file))
    if files:
        yield tree.take_unit(shown(name), files, "flyway", "Flyway's V by version, then R")


def _version(name: str) -> tuple[object, ...] | None:
    match = FLYWAY.fullmatch(name)
    if match is None or match[1] == "U":
        return None
    return (
        match[1],
        match[2] and tuple(int(part) for part in re.split(r"[._]", match[2])),
        match[4] if match[3] else "",
    )


# Pairs of an up and a down migration. Only the up migrations are run, in the order of their numbers. Examples are
# `1_x.up.sql` and `1_x.down.sql` (golang-migrate, sqlx), `001.do.x.sql` and `001.undo.x.sql` (Postgrator), and the
# folders `up/` and `down/`.

_ROLLBACK = "it is a rollback file"


def updown(tree: Tree) -> Iterator[UnitCandidate]:
    yield from _folders_of_pairs(tree)
    for folder in tree.folders():
        names = tree.sql[folder]
        directions = {name: direction for name in names if (direction := direction_of(name))}
        downs = {name: rest for name, (which, rest) in directions.items() if which == "down"}
        ups = {name: rest for name, (which, rest) in directions.items() if which == "up"}
        existing = {*ups.values(), *names}
        undone = [name for name, rest in downs.items() if rest in existing]
        paired = set(downs.values())
        certain = [name for name, rest in ups.items() if rest in paired or ".up." in name or ".do." in name]
        plain = [name for name in names if name in paired]
        if not undone and not certain:
            continue
        tree.drop(folder, undone, _ROLLBACK)
        # Files with the same numbering are run with them: a migration without a rollback has no pair.
        files = [
            name
            for name in names
            if name not in undone and (name in certain or name in plain or (name[:1].isdigit() and name not in downs))
        ]
        ordered = sorted(files, key=lambda name: (natural(name.partition(".")[0]), name))
        yield tree.take_unit(shown(folder), [(folder, name) for name in ordered], "up-down", "up migrations in order")


def _folders_of_pairs(tree: Tree) -> Iterator[UnitCandidate]:
    known = set(tree.sql)
    for folder in tree.folders():
        if last(folder).lower() not in DOWN:
            continue
        parent_folder = parent(folder)
        ups = [up_folder for up_folder in (tree.path(parent_folder, name) for name in sorted(UP)) if up_folder in known]
        if ups or any(name[:1].isdigit() for name in tree.sql.get(parent_folder, ())):
            tree.drop(folder, list(tree.sql[folder]), _ROLLBACK)
        for up in ups:
            if up in tree.sql:
                files = [(up, name) for name in sorted(tree.sql[up], key=natural)]
                yield tree.take_unit(shown(up), files, "up-down", f"{last(up)}/ next to {last(folder)}/")


# `docker-entrypoint-initdb.d` of the images of PostgreSQL: .sql and .sh in the order of their names.


def initdb(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        if last(folder) not in INITDB:
            continue
        scripts = [name for name in tree.programs.get(folder, ()) if name.endswith(".sh")]
        names = sorted([*tree.sql.get(folder, ()), *scripts])
        if folder in tree.sql or any(tree.look.traits(tree.path(folder, name)).may_publish for name in scripts):
            files = [(folder, name) for name in names]
            yield tree.take_unit(shown(folder), files, "initdb", "in the order in which the image runs them")


# Tools that mark their files: goose, dbmate, sql-migrate, node-pg-migrate and Play's evolutions keep both ways in one
# file, and only the way up is run; Liquibase's formatted SQL holds changesets.


def annotated(tree: Tree) -> Iterator[UnitCandidate]:
    histories: dict[tuple[str, str], list[str]] = {}
    for folder in tree.folders():
        kinds = [kind for name in tree.sql[folder] if (kind := tree.look.traits(tree.path(folder, name)).kind)]
        for kind in dict.fromkeys(kinds):
            histories.setdefault((changelog_folder(folder) if kind == "liquibase" else folder, kind), []).append(folder)
    for (history, kind), folders in histories.items():
        files = []
        for folder in folders:
            for name in tree.sql.get(folder, ()):
                file_kind = tree.look.traits(tree.path(folder, name)).kind
                if file_kind == kind or (file_kind is None and name[:1].isdigit() and kind != "liquibase"):
                    files.append((folder, name))
        files.sort(key=lambda file: natural(tree.path(*file)))
        if files:
            yield tree.take_unit(shown(history), files, kind, f"files with the marks of {kind}, in order")


# Folders of numbered files, in the order of the numbers: those of migrations, whoever runs them, and others whose files
# do not create the same tables. Migrations in other languages are part of them if any file is about replication.

_FEWEST = 3
"""The number of files that must create the same table before they are separate units, and not a history in which it is
recreated."""
_GENERATED = lazy_compile(r"\.Designer\.cs$|ModelSnapshot\.cs$")
"""Files that Entity Framework keeps next to its migrations."""


def numbered(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        history = is_history(last(folder))
        names = [name for name in tree.sql.get(folder, ()) if NUMBERED.fullmatch(name)]
        programs = _migrations(tree, folder, names, NUMBERED if history else TIMED)
        if len(names) < (1 if history else 2) and not programs:
            continue
        if _fixtures(tree, folder, names) or (not (history or programs) and _same_tables(tree, folder, names)):
            continue
        files = [(folder, name) for name in _ordered(tree, folder, [*names, *programs])]
        convention = "migrations" if history or programs else "numbered"
        yield tree.take_unit(shown(folder), files, convention, "numbered files in order")


def _migrations(tree: Tree, folder: str, names: list[str], number: re.Pattern[str]) -> list[str]:
    """Return the programs of a history: all of them if one of its files may be about replication, because another one
    may create the tables that it publishes. ``names`` are its files in SQL, ``number`` is what names of programs
    match."""
    programs = [
        name
        for name in tree.programs.get(folder, ())
        if (number.fullmatch(name) is not None and not _GENERATED.search(name))
        or tree.look.traits(tree.path(folder, name)).revision
    ]
    if tree.concerned((folder, name) for name in [*programs, *names]):
        return programs
    siblings = frozenset(tree.sql.get(parent(folder), ())) | frozenset(tree.programs.get(parent(folder), ()))
    if programs and last(folder) == "migrate" and SCHEMA in siblings:
        tree.offer(parent(folder), [SCHEMA])
    elif programs and not names and not (last(folder) == "migrate" and STRUCTURE in siblings):
        tree.offer(folder, _ordered(tree, folder, programs))
    return []


def _fixtures(tree: Tree, folder: str, names: list[str]) -> bool:
    """Return whether all files that create tables create the same one. Each is then a unit of its own."""
    if len(names) < _FEWEST or not tree.concerned((folder, name) for name in names):
        return False
    common: frozenset[str] | None = None
    creators = 0
    for name in names:
        new_tables = tree.look.names(tree.path(folder, name)).creates
        if new_tables:
            creators += 1
            common = new_tables if common is None else common & new_tables
            if not common:
                return False
    return creators >= _FEWEST


def _same_tables(tree: Tree, folder: str, names: list[str]) -> bool:
    """Return whether half of the files create a table that another file creates too. They are then separate units."""
    if not any(tree.look.traits(tree.path(folder, name)).concerned for name in names):
        return False
    created: set[str] = set()
    creators = repeated = 0
    for name in names:
        file_names = tree.look.names(tree.path(folder, name))
        new_tables = file_names.creates - file_names.creates_if_missing
        creators += bool(new_tables)
        repeated += not new_tables.isdisjoint(created)
        created |= new_tables
    return repeated > 0 and 2 * repeated >= creators


def _ordered(tree: Tree, folder: str, names: list[str]) -> list[str]:
    """Order the files by number; those of Alembic by their chain of revisions."""
    after: dict[str, tuple[str, ...]] = {}
    files: dict[str, str] = {}
    for name in tree.programs.get(folder, ()):
        revision = tree.look.traits(tree.path(folder, name)).revision if name.endswith(".py") else ()
        if revision:
            files[revision[0]], after[revision[0]] = name, revision[1:]
    if not files:
        return sorted(names, key=natural)
    chain = in_dependency_order(
        sorted(files, key=files.__getitem__), lambda revision: [name for name in after[revision] if name in files]
    )
    selected = set(names)
    return [
        *sorted(selected - set(files.values()), key=natural),
        *(files[successor] for successor in chain if files[successor] in selected),
    ]
