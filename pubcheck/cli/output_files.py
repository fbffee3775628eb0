"""Where reports go: standard output and files, several at once. A file is whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable

import click
from msgspec import Struct

from pubcheck.report.formats import FORMATS

STDOUT = "-"


class Output(Struct, frozen=True):
    """A report for a file, or for standard output."""

    format: str
    path: str


class OutputType(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic since click 8.4
    """`FORMAT:PATH` of the command line."""

    name = "output"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """An Output; fails for a format that there is not, and for a folder that there is not."""
        if isinstance(value, Output):
            return value
        name, colon, path = str(value).partition(":")
        if name not in FORMATS:
            self.fail(f"there is no format {name!r}; there are {', '.join(FORMATS)}", param, ctx)
        if not colon or not path:
            self.fail(f"missing file name, for example {name}:report.{name}", param, ctx)
        if path == STDOUT:
            return Output(name, path)
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            self.fail(f"there is no folder {folder}", param, ctx)
        if os.path.isdir(path):
            self.fail(f"{path} is a folder", param, ctx)
        return Output(name, path)


def put(path: str, pieces: Iterable[str]) -> None:
    """Writes a text to a file, in UTF-8. Raises OSError; what stood there before then still does."""
    if os.path.exists(path) and (not os.path.isfile(path) or path.startswith("/dev/")):  # a pipe, or /dev/stdout
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(pieces)
        return
    path = os.path.realpath(path)  # a symbolic link stays one
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.writelines(pieces)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise
