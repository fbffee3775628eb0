"""Files that a run changes: written, or shown as a diff."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from pubcheck.autofix import Rewritten
from pubcheck.source import decode


def write(rewritten: Iterable[Rewritten]) -> Iterator[tuple[str, str]]:
    """Writes files, each whole or not at all; yields the labels of those that could not be written, and why not."""
    for file in rewritten:
        path = os.path.realpath(file.path)  # a symbolic link stays one
        beside = f"{path}.{os.getpid()}.tmp"
        try:
            with open(path, "r+b") as stream:  # what is read-only is to stay as it is
                if stream.read() != file.before:
                    yield file.label, "was changed while it was linted and is left as it is"
                    continue
            with open(beside, "xb") as stream:
                stream.write(file.after)
            _take_after(path, beside)
            os.replace(beside, path)
        except OSError as error:
            yield file.label, f"cannot be written: {error.strerror}"
        finally:
            if os.path.exists(beside):
                os.unlink(beside)


def _take_after(path: str, beside: str) -> None:
    """Gives a new file the mode and, where that is allowed, the owner of the one that it takes the place of."""
    status = os.stat(path)
    if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):
            os.chown(beside, status.st_uid, status.st_gid)
    os.chmod(beside, status.st_mode & 0o7777)


def diff(rewritten: Iterable[Rewritten]) -> Iterator[str]:
    """What would change, as a unified diff, a file at a time."""
    from difflib import unified_diff

    for file in rewritten:
        before, after = (_lines(decode(content).text or "") for content in (file.before, file.after))
        yield "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in unified_diff(before, after, file.label, file.label)
        )


def _lines(text: str) -> list[str]:
    """The lines with their ends, as a patch counts them: only LF ends one."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])
