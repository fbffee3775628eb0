"""Which files a run reads, and which of them together form a unit.

A folder is searched, and its files form units by the naming conventions of migration tools (``tools``). If a file given
by name belongs to a migration history, the whole history is linted and only findings about that file are reported. Any
other file given by name is a unit of its own. The configuration may name units itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.discovery.conventions import APPS
from pubcheck.discovery.file_inspector import CachedFileInspector
from pubcheck.discovery.file_types import GUESSED, STDIN, UNNAMED, DiscoveredUnit, File, join, label_of, view_of
from pubcheck.discovery.tools.history_root import history_of
from pubcheck.gitignore import reason_skipped

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.discovery.tools.file_tree import FileInspector
    from pubcheck.discovery.walk import WalkResult

Identity = tuple[int, int] | str


class Discovery(Struct, frozen=True):
    """The input of a run: its units, in order, and the files that it skips, each with the reason; of these
    ``named`` were given by name."""

    units: list[DiscoveredUnit]
    skipped: list[tuple[str, str]]
    named: list[tuple[str, str]]


def find_units(
    paths: Sequence[str],
    config: Config = Config(),
    *,
    together: bool = False,
    schema: Sequence[str] = (),
    stdin: bytes | None = None,
    stdin_label: str = UNNAMED,
) -> list[DiscoveredUnit]:
    """Return the units that ``paths`` mean, in the order given, each file once: where it is reached first.

    ``together`` makes them one unit. ``schema`` are files and folders that come first in every unit, as context.
    ``stdin`` is the content of the path `-`; its label, unless it is ``UNNAMED``, is the path of the file that it
    replaces. A path that does not exist, and a folder that cannot be listed, is a unit of one file with an ``error``.
    """
    return discover_units(paths, config, together=together, schema=schema, stdin=stdin, stdin_label=stdin_label).units


def discover_units(
    paths: Sequence[str],
    config: Config = Config(),
    *,
    together: bool = False,
    schema: Sequence[str] = (),
    stdin: bytes | None = None,
    stdin_label: str = UNNAMED,
    disk: CachedFileInspector | None = None,
    alone: bool = False,
    buffers: Mapping[str, bytes] = MappingProxyType({}),
) -> Discovery:
    """Return the units as ``find_units`` does, and the files that are skipped. ``buffers`` are the contents of files,
    by path, that count instead of those on the disk.

    ``disk`` opens the files; if it learns of many beforehand, it may open them in other processes. ``alone``: files
    given by name are not looked up in a migration history."""
    finder = _UnitCollector(
        config, disk or CachedFileInspector(), alone=alone or together or bool(schema), distinct=len(paths) == 1
    )
    if stdin is not None and stdin_label != UNNAMED:
        finder.buffer(stdin_label, stdin)
    for path, content in buffers.items():
        finder.buffer(path, content)
    folders = [os.path.abspath(path) for path in paths if os.path.isdir(path)]
    later = []
    for path in paths:
        if path == STDIN and stdin is not None:
            finder.standard_input(stdin_label, stdin)
        elif config.force_exclude and (why := _why_not(path, config)):
            finder.skip(path, why)
        elif os.path.isdir(path):
            finder.folder(path)
        elif any(os.path.abspath(path).startswith(join(folder, "")) for folder in folders) and finder.in_unit(path):
            later.append(path)  # the folder brings the whole unit
        else:
            finder.file(path)
    for path in later:
        finder.file(path)
    units = finder.units
    if together and units:
        files = tuple(file for unit in units for file in unit.files)
        units = [DiscoveredUnit(files[0].label, files, "together", "--together")]
    if schema:
        before = [file for unit in find_units(schema, config, stdin=stdin) for file in unit.files]
        units = [_after(before, unit) for unit in units]
    units = list(finder.with_contents(map(finder.with_labels, units)))
    named = list(finder.named.items())
    return Discovery(units, list(dict.fromkeys([*finder.skipped, *named])), named)


def _why_not(path: str, config: Config) -> str | None:
    return reason_skipped(os.path.abspath(path), config.exclude, config.root, gitignore=config.respect_gitignore)


def _after(before: Sequence[File], unit: DiscoveredUnit) -> DiscoveredUnit:
    """Return a unit with files before it that are only followed."""
    own = {_identity(file) for file in unit.files}
    context = tuple(replace(file, context=True) for file in before if _identity(file) not in own)
    return replace(unit, files=context + unit.files)


def _identity(file: File) -> Identity:
    if file.content is not None:
        return "\0stdin"
    try:
        status = os.stat(file.path)
    except (OSError, ValueError):
        return file.path
    # A volume without inode numbers gives 0 for all of them.
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(file.path)


_OF_NAMED_FILES = ("configuration", "together", "file")
"""The conventions of units whose files are named one by one."""


class _UnitCollector:
    """Collects the units of a run. ``alone``: files given by name are not looked up in a history. ``distinct``: no file
    is met twice."""

    def __init__(self, config: Config, disk: CachedFileInspector, *, alone: bool, distinct: bool) -> None:
        self.units: list[DiscoveredUnit] = []
        self.skipped: list[tuple[str, str]] = []
        self.named: dict[str, str] = {}
        self._config, self._alone, self._distinct = config, alone, distinct
        self._inspector = disk
        self._reported: set[Identity] = set()
        self._histories: dict[tuple[str, ...], list[DiscoveredUnit]] = {}
        self._undone: dict[str, str] = {}
        self._places: dict[tuple[str, ...], int] = {}
        self._configured: list[DiscoveredUnit] | None = None
        self._buffers: set[str] = set()
        """The absolute paths of the files whose content was given."""
        self._indexes: dict[int, dict[str, int]] = {}

    def add(self, unit: DiscoveredUnit) -> None:
        """A unit, of whose files those are left out, or only followed, that were met before."""
        new = unit if self._distinct else without_repeated(unit, self._reported)
        if new is not None:
            self.units.append(new)

    def folder(self, path: str) -> None:
        walked = self._walk(path, listed=self._inspector.listed)
        self._distinct = self._distinct and not walked.links
        top, prefix_length = os.path.abspath(path), len(join(path, ""))
        below = join(top, "")
        files = [
            (below + path[prefix_length:], File(path, label_of(path), view=view_of(path))) for path in walked.files
        ]
        if self._config.units:
            files = self._without_configured(path, files)
        self._inspector.expect([path for path, _ in files])
        units = []
        included = frozenset(join(top, path[prefix_length:]).replace(os.sep, "/") for path in walked.included)
        for part in by_top(files, [join(top, walked_path[prefix_length:]) for walked_path in walked.tops]):
            grouped, skipped = group_into_units(part, self._inspector, included)
            units += grouped
            self.skipped += skipped
        for folder, problem in walked.problems:
            label = label_of(folder)
            units.append(DiscoveredUnit(label, (File(folder, label, error=problem),), "folder", "it cannot be listed"))
        if walked.problems or walked.tops:
            units = in_order(units)
        for unit in units:
            self.add(unit)

    def _walk(self, path: str, listed: Callable[[int], object] = lambda _number: None) -> WalkResult:
        from pubcheck.discovery.walk import walk

        return walk(path, self._config, listed=listed)

    def buffer(self, path: str, content: bytes) -> None:
        """Content that a file is to have, whatever is on the disk."""
        absolute = os.path.abspath(path)
        self._buffers.add(absolute)
        self._inspector.know_content(absolute, content)

    def standard_input(self, label: str, content: bytes) -> None:
        """Return the unit of standard input: the history of the file whose name it bears, if there is one."""
        buffered = os.path.abspath(label) if self._buffers else ""
        history = self._history(label) if buffered else None
        if history is not None:
            file = File(label, label_of(label), content=content, view=view_of(label))
            self._report(history, {os.path.abspath(label): file})
        elif why := self._undone.get(buffered):
            self.skip(label, why)
        else:
            view = view_of(label) if buffered else "sql"
            file = File(STDIN, label, content=content, view=view)
            self.add(DiscoveredUnit(label, (file,), "stdin", "standard input"))

    def file(self, path: str) -> None:
        history = self._history(path)
        if history is None and (why := self._undone.get(os.path.abspath(path))):
            self.skip(path, why)
            return
        if history is None:
            label = label_of(path)
            file = File(path, label, view=view_of(path))
            self.add(DiscoveredUnit(label, (file,), "file", "named on the command line", named=True))
            return
        if _identity(File(path, "")) not in self._reported:
            self._report(history, {os.path.abspath(path): File(path, label_of(path), view=view_of(path))})

    def with_labels(self, unit: DiscoveredUnit) -> DiscoveredUnit:
        """Return a unit with the labels of the Django applications of its files, which those of a folder have."""
        if unit.convention not in _OF_NAMED_FILES:
            return unit
        return replace(unit, files=tuple(map(self._with_label, unit.files)))

    def _with_label(self, file: File) -> File:
        path = os.path.abspath(file.path).replace(os.sep, "/") if file.content is None else ""
        folder, _, name = path.rpartition("/")
        app = folder.removesuffix("/migrations")
        if app == folder or not name.endswith(".py") or not os.path.isfile(f"{app}/{APPS}"):
            return file
        return dict(_of_apps({path: file, f"{app}/{APPS}": file}, self._inspector)).get(path, file)

    def with_contents(self, units: Iterable[DiscoveredUnit]) -> Iterator[DiscoveredUnit]:
        """Yield the units with the contents that were read while the units were found."""
        try:
            working_folder = os.getcwd()
        except OSError:  # it was deleted
            working_folder = ""
        for unit in units:
            contents = [
                self._inspector.contents.get(os.path.normpath(os.path.join(working_folder, file.path)))
                for file in unit.files
            ]
            files = (
                replace(file, cached_content=content) if content is not None and file.content is None else file
                for file, content in zip(unit.files, contents, strict=True)
            )
            yield replace(unit, files=tuple(files)) if any(content is not None for content in contents) else unit

    def skip(self, path: str, why: str) -> None:
        """A path given by name that is not read."""
        self.named[label_of(path)] = why

    def _report(self, unit: DiscoveredUnit, met: Mapping[str, File]) -> None:
        """Add a unit once. Its files in ``met``, by their absolute paths, are reported; the others are context."""
        key = tuple(file.path for file in unit.files)
        if key not in self._places:
            self._places[key] = len(self.units)
            self.units.append(replace(unit, files=tuple(replace(file, context=True) for file in unit.files)))
        reported = self.units[self._places[key]]
        files = list(reported.files)
        for path, file in met.items():
            number = self._members(unit).get(path)
            if number is not None and files[number].context:
                files[number] = file
                if not self._distinct:
                    self._reported.add(_identity(file))
        self.units[self._places[key]] = replace(reported, files=tuple(files))

    def _members(self, unit: DiscoveredUnit) -> dict[str, int]:
        """Return the number of each file of a unit by absolute path, without its context."""
        known = self._indexes.get(id(unit))
        if known is None:
            known = {os.path.abspath(file.path): number for number, file in enumerate(unit.files) if not file.context}
            self._indexes[id(unit)] = known  # the unit is kept for as long, and with it its id
        return known

    def in_unit(self, path: str) -> bool:
        return self._history(path) is not None

    def _history(self, path: str) -> DiscoveredUnit | None:
        """Return the unit, of the configuration or by a tool's convention, in which a file given by name is linted."""
        absolute = os.path.abspath(path)
        if self._alone or not (absolute in self._buffers or os.path.isfile(path)):
            return None
        for unit in self._units():
            if absolute in self._members(unit):
                return unit
        for places in history_of(absolute, self._kind):
            if places not in self._histories:
                relative = not os.path.isabs(path)
                below = [below_path for place in places for below_path in self._below(place)]
                files = [(below_path, _as_given(below_path, relative)) for below_path in below]
                self._histories[places], undone = group_into_units(files, self._inspector)
                paths = {file.label: below_path for below_path, file in files}
                self._undone.update((paths[label], why) for label, why in undone)
            for unit in self._histories[places]:
                if unit.convention not in GUESSED and absolute in self._members(unit):
                    return unit
        return None

    def _below(self, place: str) -> list[str]:
        if os.path.isdir(place):
            files = self._walk(place).files
        else:
            files = [place] if os.path.isfile(place) else []
        # Those that are not yet on the disk.
        files += [path for path in self._buffers.difference(files) if path.startswith(join(place, ""))]
        return files

    def _kind(self, path: str) -> str | None:
        return self._inspector.kind(path)

    def _units(self) -> list[DiscoveredUnit]:
        """Return the units that the configuration names."""
        if self._configured is None:
            self._configured = []
            if self._config.units:
                from pubcheck.discovery.tools.configured import configured

                self._configured = configured(self._config)
        return self._configured

    def _without_configured(self, top: str, files: list[tuple[str, File]]) -> list[tuple[str, File]]:
        """Return the files below a folder that are in no unit of the configuration; those units that have some there
        are added."""
        met = dict(files)
        configured: set[str] = set()
        beginning = join(os.path.abspath(top), "")
        for unit in self._units():
            own = self._members(unit)
            for path, number in own.items():
                if path not in met and path.startswith(beginning):  # not found by its name
                    location = join(top, path[len(beginning) :])
                    met[path] = replace(unit.files[number], path=location, label=label_of(location))
            if not met.keys().isdisjoint(own):
                configured.update(own)
                self._report(unit, met)
        return [(path, file) for path, file in files if path not in configured]


def without_repeated(unit: DiscoveredUnit, reported: set[Identity]) -> DiscoveredUnit | None:
    """Return the unit without the files that are ``reported`` already, to which its own are added; a tool's unit keeps
    them as context. None if no other file is left."""
    files, fresh = [], False
    for file in unit.files:
        identity = _identity(file)
        if identity not in reported:
            if not file.context:
                reported.add(identity)
                fresh = True
            files.append(file)
        elif file.context or unit.convention not in GUESSED:
            files.append(replace(file, context=True))
    return replace(unit, files=tuple(files)) if fresh else None


def in_order(units: list[DiscoveredUnit]) -> list[DiscoveredUnit]:
    """Units of several trees in the order of their first files."""
    return sorted(units, key=lambda unit: (unit.files[0].label.split("/")[:-1], unit.files[0].label))


def by_top(files: list[tuple[str, File]], tops: Sequence[str]) -> list[list[tuple[str, File]]]:
    """Return the files of each repository of its own among those below a folder, those of none of them first."""
    if not tops:
        return [files]
    parts: dict[str, list[tuple[str, File]]] = {"": [], **{top: [] for top in sorted(tops)}}
    known = {top: top for top in tops}
    for path, file in files:
        passed: list[str] = []
        directory = os.path.dirname(path)
        while directory not in known and directory != os.path.dirname(directory):
            passed.append(directory)
            directory = os.path.dirname(directory)
        top = known.get(directory, "")
        known.update((folder, top) for folder in passed)
        parts[top].append((path, file))
    return list(parts.values())


def _as_given(path: str, relative: bool) -> File:
    path = os.path.relpath(path) if relative else path
    return File(path, label_of(path), view=view_of(path))


def group_into_units(
    files: Sequence[tuple[str, File]], look: FileInspector, included: frozenset[str] = frozenset()
) -> tuple[list[DiscoveredUnit], list[tuple[str, str]]]:
    """Return the units of the files of a tree, and the labels of files that are in none, with the reason.

    Each file comes with the path by which conventions and ``look`` know it: absolute, or from the top of its
    repository. Templates are read where they hold a publication, or are among the ``included``.
    """
    from pubcheck.discovery.tools.registry import candidates_of

    by_path = {path.replace(os.sep, "/"): file for path, file in files}
    by_path |= dict(_of_apps(by_path, look))
    groups, undone = candidates_of(by_path, look, included)
    units = []
    names: set[str] = set()
    for group in groups:
        members = tuple(by_path[path] for path in group.members)
        if group.context:
            before, own = members[: group.context], members[group.context :]
            members = (
                *(replace(file, context=True) for file in before),
                *(replace(file, sometime=True) for file in own),
            )
        name = _name(group.name, group.members, members)
        if name in names:
            name = members[-1].label
        names.add(name)
        reason = " ".join((group.reason, *(by_path[path].label for path in group.after)))
        units.append(DiscoveredUnit(name, members, group.convention, reason, group.postgres))
    return units, [(by_path[path].label, why) for path, why in sorted(undone.items())]


def _of_apps(files: Mapping[str, File], look: FileInspector) -> Iterator[tuple[str, File]]:
    """Return the migrations of Django's applications whose `apps.py` decides about their labels."""
    folders = [path.rpartition("/")[0] for path in files if path == APPS or path.endswith(f"/{APPS}")]
    if not folders:
        return
    from pubcheck.discovery.tools.lists import label_of_app

    migrations = {f"{folder}/migrations" if folder else "migrations": folder for folder in folders}
    for path, file in files.items():
        folder = migrations.get(path.rpartition("/")[0])
        if folder is not None and look.traits(path).kind == "django":
            yield path, replace(file, app=label_of_app(folder, look))


def _name(name: str, paths: Sequence[str], files: Sequence[File]) -> str:
    """Return a unit's name, which is the path of a folder or a file, in the words of the labels."""
    for path, file in zip(paths, files, strict=True):
        if path == name:
            return file.label
        if path.startswith(name + "/") or name in (".", "/"):
            rest = label_of(path[len(name) :]) if name not in (".", "/") else "/" + label_of(path)
            if file.label == rest[1:]:
                return "."
            if file.label.endswith(rest):
                return file.label[: -len(rest)] or ("/" if file.label.startswith("/") else ".")
            return file.label.rpartition("/")[0] or "."
    return files[0].label.rpartition("/")[0] or "."
