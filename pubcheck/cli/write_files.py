"""Files that a run changes: written, or shown as a diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pubcheck.autofix import Rewritten
from pubcheck.cli.output_files import replace_file
from pubcheck.source import decode


def write(rewritten: Iterable[Rewritten]) -> Iterator[tuple[str, str]]:
    """Write files, each whole or not at all; yield the labels of files that could not be written, with the reason."""
    for file in rewritten:
        try:
            with open(file.path, "r+b") as stream:  # a read-only file is not replaced
                if stream.read() != file.before:
                    yield file.label, "was changed while it was linted, so it was not written"
                    continue
            replace_file(file.path, [file.after])
        except OSError as error:
            yield file.label, f"cannot be written: {error.strerror}"


def diff(rewritten: Iterable[Rewritten]) -> Iterator[str]:
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
