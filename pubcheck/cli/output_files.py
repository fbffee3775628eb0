"""The outputs of reports: standard output and files. A file is written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

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
        """Return an Output; fails for a format that there is not, and for a folder that there is not."""
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
    """Write a text to a file, in UTF-8. Raises OSError; an existing file is then as it was before."""
    contents = (piece.encode("utf-8", "backslashreplace") for piece in pieces)
    if os.path.exists(path) and (not os.path.isfile(path) or path.startswith("/dev/")):  # a pipe, or /dev/stdout
        with open(path, "wb") as stream:
            stream.writelines(contents)
        return
    replace_file(path, contents)


def replace_file(path: str, contents: Iterable[bytes]) -> None:
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
