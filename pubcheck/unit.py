"""Linting the files of one unit, as every driver does it: read, judged, resolved to places; nothing raised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.linter import Result, Unit
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.report.document import Finding, Resolver
from pubcheck.sources.paths import File, Reading, read_unit


class Lints(Protocol):
    """What judges units: ``pubcheck.Linter``, or what stands in its place."""

    @property
    def config(self) -> Config: ...

    def lint(self, unit: Unit) -> Result: ...


class Judged(Struct, frozen=True):
    """What came of a unit: its findings, the majors judged and the statements counted. ``reading`` is what was read
    of its files; ``error`` an error of the linter's own, with which only the findings of reading are left."""

    findings: tuple[Finding, ...]
    postgres: tuple[int, ...]
    statements: int
    reading: Reading
    error: Exception | None = None


def judge(files: Sequence[File], linter: Lints, *, excerpts: bool) -> Judged:
    """Reads and lints the files of a unit. ``excerpts``: whether findings shall carry the lines to show with them."""
    config = linter.config
    majors = config.postgres or (DEFAULT_MAJOR,)
    reading = read_unit(files, majors)
    diagnostics, statements, caught = list(reading.diagnostics), 0, None
    if reading.sources:
        try:
            result = linter.lint(Unit(reading.sources))
        except Exception as error:
            caught = error
        else:
            diagnostics += result.diagnostics
            statements, majors = result.statements, result.postgres
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    findings = Resolver(excerpts=excerpts).findings(each for each in diagnostics if each.rule in reported)
    return Judged(tuple(findings), majors, statements, reading, caught)
