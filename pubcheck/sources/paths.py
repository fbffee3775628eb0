"""Which files a run reads, and which of them together build one database.

A file given by name is a unit of its own. A folder is walked: each directory that directly holds .sql files is one
unit, its files in the order of their names. Finding opens no file; a unit's files are read when its turn comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.sources.text import Source, decode

STDIN = "-"
SUFFIXES: tuple[str, ...] = (".sql",)
"""How the names of files that are read end, in any case."""


class File(Struct, frozen=True):
    """A file yet to be read. ``label`` is how it is reported; ``error`` why it is known already to be unreadable;
    ``content`` what standard input held, None for a file."""

    path: str
    label: str
    error: str | None = None
    content: bytes | None = None


class Reading(Struct, frozen=True):
    """The sources of a unit that could be read, and what is to be said of reading them."""

    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]


def find_units(
    paths: Sequence[str], *, together: bool = False, stdin: bytes | None = None, stdin_label: str = "<stdin>"
) -> list[tuple[File, ...]]:
    """The units that ``paths`` mean, in the order given, each file once: where it is reached first.

    ``together`` makes them one unit. ``stdin`` is what stands for the path `-`. Folders whose names begin with a dot
    are not walked unless they are given by name, and neither are symbolic links to folders. A path that does not
    exist, and a folder that cannot be listed, is a unit of one file with an ``error``.
    """
    seen: set[tuple[int, int] | str] = set()
    units = []
    for path in paths:
        for unit in _units_of(path, stdin, stdin_label):
            fresh = tuple(file for file in unit if _first_time(file, seen))
            if fresh:
                units.append(fresh)
    if together and units:
        return [tuple(file for unit in units for file in unit)]
    return units


def _first_time(file: File, seen: set[tuple[int, int] | str]) -> bool:
    identity: tuple[int, int] | str = file.path
    if file.content is None:
        try:
            status = os.stat(file.path)
        except (OSError, ValueError):
            pass
        else:
            # A volume without inode numbers gives 0 for all of them.
            identity = (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(file.path)
    else:
        identity = "\0stdin"
    if identity in seen:
        return False
    seen.add(identity)
    return True


def _units_of(path: str, stdin: bytes | None, stdin_label: str) -> Iterator[tuple[File, ...]]:
    if path == STDIN and stdin is not None:
        yield (File(STDIN, stdin_label, content=stdin),)
    elif os.path.isdir(path):
        yield from _walk(path)
    else:
        yield (File(path, label_of(path)),)


class Repository(Struct, frozen=True):
    """A repository of a corpus and its units, as ``find_units`` finds them in its folder."""

    name: str
    units: tuple[tuple[File, ...], ...]


def find_repositories(where: str) -> Iterator[Repository]:
    """The repositories of a corpus that hold a file to read, one at a time, so that a corpus may be of any size.

    ``where`` is a pattern (`corpus/*/*`), each match of which, unless it lies in another one, is a repository, named
    by the path below what stands before the first wildcard; or a folder, in which each folder is a repository and its
    own files are one, named "."; a folder that holds `.git` is a repository itself. The labels of the files are those
    of `pubcheck lint`.
    """
    if any(character in where for character in "*?["):
        from glob import iglob

        parts = where.replace(os.sep, "/").split("/")
        fixed = next(number for number, part in enumerate(parts) if any(each in part for each in "*?["))
        taken: set[str] = set()
        for path in sorted(iglob(where, recursive=True), key=lambda path: path.split(os.sep)):
            matched = label_of(path).rstrip("/").split("/")
            if taken.isdisjoint("/".join(matched[:length]) for length in range(1, len(matched))):
                taken.add("/".join(matched))
                yield from _repository("/".join(matched[fixed:]), find_units([path]))
    elif not os.path.isdir(where) or os.path.exists(_join(where, ".git")):
        yield from _repository(os.path.basename(label_of(os.path.abspath(where))), find_units([where]))
    else:
        yield from _repository(".", list(_walk(where, into=False)))
        for name in _folders(where):
            yield from _repository(label_of(name), find_units([_join(where, name)]))


def _repository(name: str, units: list[tuple[File, ...]]) -> Iterator[Repository]:
    if units:
        yield Repository(name, tuple(units))


def _folders(folder: str) -> list[str]:
    """The names of the folders in a folder that are walked; none of one that cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            )
    except OSError:
        return []


def group_paths(paths: Iterable[str]) -> list[tuple[str, ...]]:
    """The units of a repository of which only the paths are at hand, as a walk of its folders would find them."""
    folders: dict[tuple[str, ...], set[str]] = {}
    for path in paths:
        *folder, name = path.split("/")
        if name.lower().endswith(SUFFIXES) and not any(_hidden(part) for part in folder):
            folders.setdefault(tuple(folder), set()).add(path)
    return [tuple(sorted(folders[folder])) for folder in sorted(folders)]


def _hidden(folder: str) -> bool:
    return folder.startswith(".") and folder not in (".", "..")


def _walk(top: str, *, into: bool = True) -> Iterator[tuple[File, ...]]:
    """The units below a folder: its own files first, then, going ``into`` them, those of each folder in it, in the
    order of their names."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        files, folders = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith("."):
                            folders.append(entry.name)
                    elif entry.name.lower().endswith(SUFFIXES) and _may_be_read(entry):
                        files.append(entry.name)
        except OSError as error:
            yield (File(folder, label_of(folder), error=error.strerror or str(error)),)
            continue
        if files:
            yield tuple(File(path, label_of(path)) for path in (_join(folder, name) for name in sorted(files)))
        if into:
            waiting += [_join(folder, name) for name in sorted(folders, reverse=True)]


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    """Whether a found name is a file, or a link to nothing, which is worth saying; a pipe or a device would block."""
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir() and not os.path.exists(entry.path))
    except OSError:  # a loop of links
        return True


def _join(folder: str, name: str) -> str:
    return folder + name if folder.endswith(("/", os.sep)) else folder + os.sep + name


def label_of(path: str) -> str:
    """How a path is reported: as the user gave it, joined with "/", readable whatever bytes the name holds."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text.replace(os.sep, "/") if os.sep != "/" else text


def read_unit(files: Sequence[File], majors: tuple[int, ...]) -> Reading:
    """Reads a unit's files; what cannot be read, or is no text, becomes a diagnostic for ``majors`` and is left out."""
    sources, diagnostics = [], []
    for file in files:
        try:
            decoded = decode(_content(file))
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            message = f"this cannot be read: {reason}"
            diagnostics.append(_diagnostic("PUB001", Span(Source(file.label, ""), 0, 0), message, majors))
            continue
        if decoded.text is None:
            message = f"this is not text: {decoded.problem}"
            help = "pubcheck reads SQL as text: `pg_restore --file=schema.sql` turns an archive of pg_dump into it"
            diagnostics.append(_diagnostic("PUB002", Span(Source(file.label, ""), 0, 0), message, majors, help))
            continue
        source = Source(file.label, decoded.text)
        sources.append(source)
        if decoded.encoding == "windows-1252":
            start = next(at for at, char in enumerate(decoded.text) if char > "\x7f")
            message = "this file is not UTF-8 and was read as Windows-1252"
            help = "save it as UTF-8"
            diagnostics.append(_diagnostic("PUB003", Span(source, start, start + 1), message, majors, help))
    return Reading(tuple(sources), tuple(diagnostics))


def _content(file: File) -> bytes:
    if file.content is not None:
        return file.content
    if file.error is not None:
        raise OSError(0, file.error)
    with open(file.path, "rb") as stream:
        return stream.read()


def _diagnostic(code: str, span: Span, message: str, majors: tuple[int, ...], help: str | None = None) -> Diagnostic:
    rule = rulebook.RULES[code]
    return Diagnostic(
        rule=code,
        name=rule.name,
        phase=rule.phase,
        severity=rule.severity,
        certainty="certain",
        postgres=majors,
        message=message,
        help=help,
        span=span,
    )
