"""Units whose order is written in a file: a tool's list of migrations, or in the migrations and scripts themselves.

Sqitch, Drizzle and Rails keep a list, Django's migrations name those that they come after, and Liquibase's change logs
and scripts of psql include other files.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Container, Iterator

from pubcheck.discovery.conventions import APPS, last, parent
from pubcheck.discovery.file_facts import is_changelog
from pubcheck.discovery.file_types import language_of
from pubcheck.discovery.migration_lists import SCHEMA, STRUCTURE
from pubcheck.discovery.tools.file_tree import FileInspector, Tree, UnitCandidate, in_dependency_order, natural, shown

# Sqitch: `deploy/` in the order of `sqitch.plan`; `revert/` and `verify/` are not run.


def sqitch(tree: Tree) -> Iterator[UnitCandidate]:
    for folder, names in sorted(tree.lists.items()):
        if "sqitch.plan" not in names:
            continue
        order = tree.look.traits(tree.path(folder, "sqitch.plan")).order
        files = []
        for change in _scripts_of(order):
            below, _, name = f"deploy/{change}.sql".rpartition("/")
            if name in tree.sql.get(tree.path(folder, below), ()):
                files.append((tree.path(folder, below), name))
        for undoing in ("revert", "verify"):
            for subfolder in list(tree.below(tree.path(folder, undoing))):
                tree.drop(subfolder, tree.sql[subfolder], f"Sqitch runs {undoing}/ only to {undoing}")
        if files:
            yield tree.take_unit(shown(folder), files, "sqitch", "deploy/ in the order of sqitch.plan")


def _scripts_of(order: tuple[str, ...]) -> list[str]:
    """Return the names of the scripts, without suffix. A change that is reworked later has its first script under the
    name of the tag that followed it."""
    scripts = []
    for number, change in enumerate(order):
        if change.startswith("@"):
            continue
        if change in order[number + 1 :]:
            change += next((tag for tag in order[number:] if tag.startswith("@")), "")
        scripts.append(change)
    return scripts


# Drizzle: the migrations that `meta/_journal.json` lists, in its order.


def drizzle(tree: Tree) -> Iterator[UnitCandidate]:
    for meta, names in sorted(tree.lists.items()):
        folder = parent(meta)
        if "_journal.json" not in names or last(meta) != "meta" or folder not in tree.sql:
            continue
        order = tree.look.traits(tree.path(meta, "_journal.json")).order
        existing = set(tree.sql[folder])
        files = [(folder, f"{tag}.sql") for tag in dict.fromkeys(order) if f"{tag}.sql" in existing]
        if files:
            yield tree.take_unit(shown(folder), files, "drizzle", "in the order of meta/_journal.json")


# Rails: migrations that `structure.sql`, or `schema.rb`, does not hold yet run after it.

_VERSION = re.compile(r"(\d{8,})_.*\.rb", re.S)


def rails(tree: Tree) -> Iterator[UnitCandidate]:
    for folder in sorted({*tree.sql, *tree.programs}):
        migrate = tree.path(folder, "migrate")
        names = tree.programs.get(migrate, [])
        base = next(
            (schema_file for schema_file in (STRUCTURE, SCHEMA) if schema_file in _schema_files(tree, folder)), None
        )
        if base is None or not names:
            continue
        versions = tree.look.traits(tree.path(folder, base)).order
        later = [(migrate, name) for name in sorted(names, key=natural) if _comes_after(name, versions, base)]
        if later and tree.concerned([(folder, base), *later]):
            reason = f"{base}, then the migrations that it does not contain"
            yield tree.take_unit(tree.path(folder, base), [(folder, base), *later], "migrations", reason)


def _schema_files(tree: Tree, folder: str) -> list[str]:
    return [*tree.sql.get(folder, ()), *tree.programs.get(folder, ())]


def _comes_after(name: str, versions: tuple[str, ...], base: str) -> bool:
    version = _VERSION.fullmatch(name)
    if version is None or not versions:
        return False
    return version[1] not in versions if base == STRUCTURE else int(version[1]) > int(versions[-1])


# Django: the migrations of all applications of a project, each after its dependencies.

_DJANGO = "django"
_REPLACED = "Django runs the migration that replaces it"


def django(tree: Tree) -> Iterator[UnitCandidate]:
    projects: dict[str, list[tuple[str, str]]] = {}
    for folder in sorted(tree.programs):
        if last(folder) == "migrations":
            projects.setdefault(_project(tree, folder), []).extend((folder, name) for name in tree.programs[folder])
    for project, files in projects.items():
        migrations = [file for file in files if _is_migration(tree, file)]
        if not tree.concerned(migrations):
            continue
        replaced = {revision for file in migrations for revision in tree.look.traits(tree.path(*file)).order}
        for folder, name in [file for file in migrations if _own_name(tree, file) in replaced]:
            tree.drop(folder, [name], _REPLACED)
            migrations.remove((folder, name))
        folders = {folder for folder, _ in migrations}
        name = shown(folders.pop() if len(folders) == 1 else project)
        yield tree.take_unit(name, _by_dependency(tree, migrations), _DJANGO, "Django's migrations in dependency order")


def label_of_app(folder: str, look: FileInspector) -> str | None:
    """Return the label of the application in a folder that holds `apps.py`: "" where that computes it, and None where
    it leaves the folder's name."""
    return next(iter(look.traits(f"{folder}/{APPS}" if folder else APPS).order), None)


def _own_name(tree: Tree, file: tuple[str, str]) -> str:
    """Return a migration's name as others depend on it."""
    app = parent(file[0])
    label = label_of_app(app, tree.look) if APPS in tree.programs.get(app, ()) else None
    return f"{label or last(app)}.{tree.look.traits(tree.path(*file)).revision[0]}"


def _is_migration(tree: Tree, file: tuple[str, str]) -> bool:
    return file[1].endswith(".py") and tree.look.traits(tree.path(*file)).kind == _DJANGO


def _project(tree: Tree, folder: str) -> str:
    """Return the folder of the nearest `manage.py` above a folder, else the top."""
    directory = folder
    while directory:
        directory = parent(directory)
        if "manage.py" in tree.programs.get(directory, ()):
            return directory
    return ""


def _by_dependency(tree: Tree, files: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Order the migrations by their dependencies, then by name."""
    revisions = {file: tree.look.traits(tree.path(*file)).revision for file in files}
    owners = {_own_name(tree, file): file for file in files}
    for file in files:
        for revision in tree.look.traits(tree.path(*file)).order:
            owners.setdefault(revision, file)
    return in_dependency_order(
        sorted(files, key=lambda file: (file[0].split("/"), natural(file[1]))),
        lambda file: [owners[revision] for revision in revisions[file][1:] if revision in owners],
    )


# Liquibase: the files that a change log in XML, YAML or JSON includes, in its order.


def liquibase(tree: Tree) -> Iterator[UnitCandidate]:
    logs = {
        tree.path(folder, name): order
        for folder, names in sorted(tree.lists.items())
        for name in names
        if is_changelog(name) and (order := tree.look.traits(tree.path(folder, name)).order)
    }
    if not logs:
        return
    files_by_path = tree.files_by_path()
    programs = {
        tree.path(folder, name): (folder, name)
        for folder, names in sorted(tree.programs.items())
        for name in names
        if language_of(name) in ("xml", "yaml")
    }
    # Most that include others have no statements.
    programs = {path: file for path, file in programs.items() if path not in logs or tree.concerned([file])}
    files_by_path |= programs
    known = {
        path: resolved
        for path, order in logs.items()
        if (resolved := _included_files(path, order, logs, files_by_path))
    }
    inner = {file_path for path, resolved in known.items() for file_path in resolved if file_path != path}
    for path in known:
        run = _run_order(path, known, files_by_path) if path not in inner else None
        files = [
            files_by_path[file_path]
            for file_path in run or ()
            if file_path in files_by_path and _free(tree, *files_by_path[file_path])
        ]
        if not tree.concerned(files):
            files = [file_path for file_path in files if tree.path(*file_path) not in programs]
        if files:
            yield tree.take_unit(parent(path) or ".", files, "liquibase", "in the order of the change log")


def _free(tree: Tree, folder: str, name: str) -> bool:
    return name in tree.sql.get(folder, ()) or name in tree.programs.get(folder, ())


def _included_files(
    path: str, order: tuple[str, ...], logs: dict[str, tuple[str, ...]], files_by_path: dict[str, tuple[str, str]]
) -> list[str] | None:
    """Return the files and change logs that are meant; None if one of them is not to be found."""
    files: list[str] = []
    for written in order:
        folder = parent(path)
        while True:
            target = posixpath.normpath(posixpath.join(folder or ".", written.rstrip("/")))
            if written.endswith("/"):
                inside = sorted(
                    candidate
                    for candidate in (*files_by_path, *logs)
                    if candidate.startswith(f"{target}/") and candidate != path
                )
            else:
                inside = [target] if target in files_by_path or target in logs else []
            if inside or not folder or folder == parent(folder):
                break
            folder = parent(folder)
        if not inside and not written.endswith("/"):
            return None
        files += inside
    return files


def _run_order(path: str, known: dict[str, list[str]], existing: Container[str]) -> list[str] | None:
    """Return the files in the order in which they are run; None if one of the change logs is not followed. What a
    change log says itself is run before what it includes."""
    order: dict[str, None] = {}
    waiting, met = [path], set()
    while waiting:
        current = waiting.pop()
        if current in known and current not in met:
            met.add(current)
            if current in existing:
                order.setdefault(current)
            waiting += reversed(known[current])
        elif is_changelog(current) and current not in met and current not in existing:
            return None
        else:
            order.setdefault(current)
    return list(order)


# Scripts of psql that run others with `\i` or `\ir`: the script, then these in the order in which they are named.


def psql(tree: Tree) -> Iterator[UnitCandidate]:
    files_by_path = tree.files_by_path()
    includes: dict[str, list[str]] = {}
    for path, (folder, _) in files_by_path.items():
        included = [
            included_path
            for written in tree.look.traits(path).includes
            if (included_path := _included_script(written, folder, files_by_path))
        ]
        if included:
            includes[path] = included
    inner = {name for path, included in includes.items() for name in included if name != path}
    scripts = {path: _scripts_in_order(path, includes) for path in includes if path not in inner}
    runs = Counter(included_path for order in scripts.values() for included_path in order)
    for path, order in scripts.items():
        # What several scripts run they may run for a database each.
        if all(runs[included_path] == 1 for included_path in order):
            yield tree.take_unit(
                path,
                [files_by_path[included_path] for included_path in order],
                "psql",
                "a psql script and the files that it includes",
            )


def _included_script(written: str, folder: str, files_by_path: dict[str, tuple[str, str]]) -> str | None:
    """Return the file that is meant: `\\i` starts from where psql was started, which may be any folder above."""
    directory = folder
    while True:
        path = posixpath.normpath(posixpath.join(directory or ".", written))
        for candidate in (path, f"./{path}"):
            if candidate in files_by_path:
                return candidate
        if not directory or directory == parent(directory):
            return None
        directory = parent(directory)


def _scripts_in_order(path: str, includes: dict[str, list[str]]) -> list[str]:
    order: dict[str, None] = {}
    waiting = [path]
    while waiting:
        current = waiting.pop()
        if current not in order:
            order[current] = None
            waiting += reversed(includes.get(current, ()))
    return list(order)
