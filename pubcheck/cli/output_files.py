"""The outputs of a run and the files that it changes. Each file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import click
from msgspec import Struct

from pubcheck.cli.app import complain, completes, show
from pubcheck.findings import Report
from pubcheck.report import FORMATS, render
from pubcheck.source import decode

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.autofix import Rewritten


STDOUT = "-"


class Output(Struct, frozen=True):
    """A report for a file, or for standard output. Without a format it is the report that would else be printed."""

    format: str
    path: str


class Reports(Struct, frozen=True):
    """The reports of a run: the main one in ``format``, for the file ``main`` or standard output, and further ones."""

    format: str
    main: str
    further: tuple[Output, ...]

    @property
    def formats(self) -> tuple[str, ...]:
        return (self.format, *(output.format for output in self.further))


class OutputType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """`[FORMAT:]PATH` of the command line."""

    name = "output"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """Return an Output; fails for a format that there is not, and for a folder that there is not."""
        if isinstance(value, Output):
            return value
        name, colon, path = str(value).partition(":")
        if name in FORMATS and not path:
            self.fail(f"missing file name, for example {name}:report.{name}", param, ctx)
        if name not in FORMATS:
            if colon and name.isalpha() and len(name) > 1:  # not a drive of Windows
                self.fail(f"there is no format {name!r}; there are {', '.join(FORMATS)}", param, ctx)
            name, path = "", str(value)
        if path == STDOUT:
            return Output(name, path)
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            self.fail(f"there is no folder {folder}", param, ctx)
        if os.path.isdir(path):
            self.fail(f"{path} is a folder", param, ctx)
        return Output(name, path)


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=completes("files"),
    help="Write to this file instead of standard output.",
)
reports_option = click.option(
    "-o",
    "--output",
    "outputs",
    type=OutputType(),
    multiple=True,
    metavar="[FORMAT:]FILE",
    shell_complete=completes("reports"),
    help="Write to this file instead of standard output. With a FORMAT, also write a report in that format."
    " Repeatable.",
)


def reports_of(format_: str | None, outputs: Sequence[Output]) -> Reports:
    """Return the reports that `--format` and `--output` ask for. Raises UsageError for two main ones."""
    plain = [output.path for output in outputs if not output.format]
    printed = [output.format for output in outputs if output.format and output.path == STDOUT]
    if len(plain) > 1:
        raise click.UsageError("the report can go to one file only; name the format of others, such as json:FILE")
    if len(printed) + (format_ is not None or bool(plain)) > 1:
        raise click.UsageError(
            "only one report can go to standard output: use either --format or one --output FORMAT:-"
        )
    further = tuple(output for output in outputs if output.format and output.path != STDOUT)
    return Reports((printed or [format_ or "text"])[0], (plain or [STDOUT])[0], further)


def write_output(path: str | None, pieces: Iterable[str], *, for_people: bool) -> int:
    """Write a text to a file, or to standard output without one; return the exit status, 2 if it cannot be written."""
    if path is None or path == STDOUT:
        show(pieces, for_people=for_people)
        return 0
    try:
        put(path, pieces)
    except OSError as error:
        return complain(f"--output: {path}: {error.strerror}")
    return 0


def write_reports(reports: Reports, report: Report, main: Iterable[str], *, for_people: bool) -> int:
    """Write the further reports of a run and then the main one, whose text is given; return the exit status."""
    further = [(output.path, render(report, output.format)) for output in reports.further]
    statuses = [write_output(path, pieces, for_people=False) for path, pieces in further]
    return max([*statuses, write_output(reports.main, main, for_people=for_people)])


def put(path: str, pieces: Iterable[str]) -> None:
    """Write a text to a file, in UTF-8. Raises OSError; an existing file is then as it was before."""
    contents = (piece.encode("utf-8", "backslashreplace") for piece in pieces)
    if os.path.exists(path) and (not os.path.isfile(path) or path.startswith("/dev/")):  # a pipe, or /dev/stdout
        with open(path, "wb") as stream:
            stream.writelines(contents)
        return
    _replace_file(path, contents)


def _replace_file(path: str, contents: Iterable[bytes]) -> None:
    """Write a file, whole or not at all. An existing one keeps its mode and, where that is allowed, its owner. Raises
    OSError, and what ``contents`` raises."""
    path = os.path.realpath(path)  # a symbolic link stays one
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "xb") as stream:
            stream.writelines(contents)
        if os.path.exists(path):
            _copy_mode_and_owner(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _copy_mode_and_owner(path: str, temporary: str) -> None:
    status = os.stat(path)
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, status.st_mode & 0o7777)


# Files that a run changes: written, or shown as a diff.


def write_rewritten(rewritten: Iterable[Rewritten]) -> Iterator[tuple[str, str]]:
    """Write files, each whole or not at all; yield the labels of files that could not be written, with the reason."""
    for file in rewritten:
        try:
            with open(file.path, "r+b") as stream:  # a read-only file is not replaced
                if stream.read() != file.before:
                    yield file.label, "was changed while it was linted, so it was not written"
                    continue
            _replace_file(file.path, [file.after])
        except OSError as error:
            yield file.label, f"cannot be written: {error.strerror}"


def diff_of(rewritten: Iterable[Rewritten]) -> Iterator[str]:
    """Yield the changes as a unified diff, one file at a time."""
    from difflib import unified_diff

    for file in rewritten:
        before, after = (_lines(decode(content).text or "") for content in (file.before, file.after))
        yield "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in unified_diff(before, after, file.label, file.label)
        )


def _lines(text: str) -> list[str]:
    """Return the lines with their ends, as a patch counts them: only LF ends one."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])
