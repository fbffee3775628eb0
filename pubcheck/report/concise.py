"""Findings for people and editors, one a line: `path:line:column: severity[code]: message`."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.findings import Report
from pubcheck.report.causes import causes, message
from pubcheck.report.text import COLOR, PLAIN, summary
from pubcheck.source import escape


def render(report: Report, *, color: bool = False, quiet: bool = False) -> Iterator[str]:
    """Return the report in pieces, one finding each; ``quiet`` leaves out the closing line."""
    palette = COLOR if color else PLAIN
    for cause in causes(report.findings):
        entry = cause[0].entry
        place = f"{palette.bold}{escape(entry.path)}{palette.reset}{escape(entry.place.removeprefix(entry.path))}"
        assumed = " (assumed)" if entry.certainty == "assumed" else ""
        kind = f"{palette.kind(entry)}{palette.reset}{assumed}"
        yield f"{place}: {kind}: {escape(message(cause))}\n"
    if not quiet:
        yield summary(report) + "\n"
