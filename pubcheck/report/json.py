"""The JSON document of a run; `schema.json` next to this file describes it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck import __version__
from pubcheck.findings import SCHEMA_VERSION, Report, encode


class _Head(Struct, frozen=True):
    pubcheck: str
    schema_version: int
    postgres: tuple[int, ...]
    files: int
    statements: int


def render(report: Report) -> Iterator[str]:
    """Return the document in pieces, one diagnostic a line, so that a file of it can be read and compared by line."""
    head = encode(_Head(__version__, SCHEMA_VERSION, report.postgres, report.files, report.statements)).decode()
    yield head[:-1] + ',"diagnostics":['
    separator = "\n"
    for finding in report.findings:
        yield separator + encode(finding.entry).decode()
        separator = ",\n"
    yield "\n]}\n" if report.findings else "]}\n"
