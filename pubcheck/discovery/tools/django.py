"""Django: the migrations of all applications of a project, each after its dependencies."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.discovery.conventions import APPS, last, parent
from pubcheck.discovery.tools.file_tree import FileInspector, Tree, UnitCandidate, natural, shown

KIND = "django"
_REASON = "Django runs the migration that replaces it"


def candidates(tree: Tree) -> Iterator[UnitCandidate]:
    projects: dict[str, list[tuple[str, str]]] = {}
    for folder in sorted(tree.programs):
        if last(folder) == "migrations":
            projects.setdefault(_project(tree, folder), []).extend((folder, name) for name in tree.programs[folder])
    for project, files in projects.items():
        migrations = [file for file in files if _migrates(tree, file)]
        if not tree.concerned(migrations):
            continue
        replaced = {revision for file in migrations for revision in tree.look.traits(tree.path(*file)).order}
        for folder, name in [file for file in migrations if _own_name(tree, file) in replaced]:
            tree.drop(folder, [name], _REASON)
            migrations.remove((folder, name))
        folders = {folder for folder, _ in migrations}
        name = shown(folders.pop() if len(folders) == 1 else project)
        yield tree.take_unit(name, _ordered(tree, migrations), KIND, "Django's migrations in dependency order")


def label_of_app(folder: str, look: FileInspector) -> str | None:
    """Return the label of the application in a folder that holds `apps.py`: "" where that computes it, and None where
    it leaves the folder's name."""
    return next(iter(look.traits(f"{folder}/{APPS}" if folder else APPS).order), None)


def _own_name(tree: Tree, file: tuple[str, str]) -> str:
    """Return a migration's name as others depend on it."""
    app = parent(file[0])
    label = label_of_app(app, tree.look) if APPS in tree.programs.get(app, ()) else None
    return f"{label or last(app)}.{tree.look.traits(tree.path(*file)).revision[0]}"


def _migrates(tree: Tree, file: tuple[str, str]) -> bool:
    return file[1].endswith(".py") and tree.look.traits(tree.path(*file)).kind == KIND


def _project(tree: Tree, folder: str) -> str:
    """Return the folder of the nearest `manage.py` above a folder, else the top."""
    directory = folder
    while directory:
        directory = parent(directory)
        if "manage.py" in tree.programs.get(directory, ()):
            return directory
    return ""


def _ordered(tree: Tree, files: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Order the migrations by their dependencies, then by name."""
    revisions = {file: tree.look.traits(tree.path(*file)).revision for file in files}
    owners = {_own_name(tree, file): file for file in files}
    for file in files:
        for revision in tree.look.traits(tree.path(*file)).order:
            owners.setdefault(revision, file)
    chain: dict[tuple[str, str], None] = {}
    for start in sorted(files, key=lambda file: (file[0].split("/"), natural(file[1]))):
        waiting = [start]
        while waiting:
            current = waiting[-1]
            left = [owners[revision] for revision in revisions[current][1:] if revision in owners]
            left = [file for file in left if file not in chain and file not in waiting]
            if left:
                waiting.append(left[0])
            else:
                chain[waiting.pop()] = None
    return list(chain)
