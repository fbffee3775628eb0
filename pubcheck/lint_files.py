"""Linting the files of one unit: they are read, linted and resolved to places; nothing is raised.

This is the one reader: `lint`, `explain`, `measure` and the audit call ``lint_files``, `scaffold` and `simulate`
``read_files``.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.conventions import project_on_disk
from pubcheck.discovery.file_types import LISTINGS, DiscoveredUnit
from pubcheck.discovery.read import Reading, read_unit
from pubcheck.engine.linter import Followed, Linter
from pubcheck.engine.unit import Unit
from pubcheck.faults import Fault, fault_of
from pubcheck.findings import Finding, Resolver
from pubcheck.gitignore import top_of
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.source import Source, has_unknown_order


class LintedUnit(Struct, frozen=True):
    """The result of linting a unit: its findings, the diagnostics that they show, the majors that it was linted for,
    and the number of its statements, without those of context files. ``reading`` holds the sources of its files;
    ``faults`` are pubcheck's own errors: each is among the findings, unless it ended the linting.

    ``followed`` is the final state of each major, if that was asked for and no error ended the linting.
    ``publications`` are the names of those that there are at the end.
    """

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    postgres: tuple[int, ...]
    statements: int
    reading: Reading
    faults: tuple[Fault, ...] = ()
    followed: Followed | None = None
    publications: frozenset[str] = frozenset()


def lint_files(unit: DiscoveredUnit, linter: Linter, *, excerpts: bool = False, follow: bool = False) -> LintedUnit:
    """Read and lint a unit. Findings that concern only context files are not reported. ``excerpts``: each finding
    carries the lines of text to show with it. ``follow``: the final state is kept, as ``Linter.follow`` gives it."""
    if gc.get_count()[0] > _LEFT_BEHIND:
        gc.collect(1)
    config = linter.config
    majors = config.postgres or (DEFAULT_MAJOR,)
    context = unit.context
    reading = Reading((), ())
    followed, statements, publications = None, 0, frozenset[str]()
    faults: tuple[Fault, ...] = ()
    try:
        reading, sources = read_files(unit, config)
        if follow:
            followed = linter.follow(sources)
            result = followed.result
        else:
            result = linter.lint(sources)
    except Exception as error:
        from pubcheck.engine.suppressions.apply import apply_config

        faults = (fault_of(error, unit.title),)
        diagnostics = tuple(apply_config(reading.diagnostics, config))
    else:
        diagnostics, majors, faults = result.diagnostics, result.postgres, reading.faults + result.faults
        publications = result.publications
        counted = zip(reading.sources, result.counts, strict=True)
        statements = sum(count for source, count in counted if source.label not in context)
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    chosen = tuple(row for row in diagnostics if row.rule in reported and _concerns(row, context))
    findings = _numbered(Resolver(excerpts=excerpts, docs_url=config.docs_url).findings(chosen), unit)
    return LintedUnit(findings, chosen, majors, statements, reading, faults, followed, publications)


_LEFT_BEHIND = 10_000
"""Objects after which the garbage of earlier units is collected. The commands let the collector run seldom, because it
finds nothing while a unit is linted. Between two units it finds the cycles that the first one left. If this is done
while they are in the processor's cache, linting thousands of small units takes a tenth less time."""


def _numbered(findings: Iterable[Finding], unit: DiscoveredUnit) -> tuple[Finding, ...]:
    """Return the findings with the numbers of their files in the unit."""
    numbers = {file.label: number for number, file in enumerate(unit.files)}
    placed = ((finding, numbers.get(finding.entry.path, 0)) for finding in findings)
    return tuple(replace(finding, file=number) if number else finding for finding, number in placed)


def read_files(unit: DiscoveredUnit, config: Config) -> tuple[Reading, Unit]:
    """Read the files of a unit; the unit is then as the linter takes it."""
    reading = read_unit(unit.files, config.postgres or (DEFAULT_MAJOR,))
    majors, platform = _majors_of(unit, config), _platform_of(unit)
    before = _before(reading.sources, unit.context)
    return reading, Unit(reading.sources, majors, platform, reading.diagnostics, unit.is_loose, before)


def _before(sources: Sequence[Source], context: frozenset[str]) -> int:
    """Return the number of sources of context, if they run before all others."""
    are_context = [source.label in context for source in sources]
    number = sum(are_context)
    in_order = all(are_context[:number]) and not any(map(has_unknown_order, sources[:number]))
    return number if in_order and number < len(sources) else 0


def _majors_of(unit: DiscoveredUnit, config: Config) -> tuple[int, ...]:
    """Return the majors that the configuration names for the unit, else the one in Supabase's own configuration; those
    of a dump's header the linter finds itself."""
    named = (
        unit.convention == "configuration"
        or any(file.view in LISTINGS for file in unit.files)
        or (unit.convention == "supabase" and not config.postgres)
    )
    return unit.postgres if named else ()


def _platform_of(unit: DiscoveredUnit) -> str:
    """Return the convention of a unit. It is "supabase" if a file of it is in a folder of that name, or if a folder
    above it in its repository holds a Supabase project."""
    if unit.platform:
        return unit.platform
    inside = any("supabase" in file.label.split("/")[:-1] for file in unit.files)
    on_disk = (file.path for file in unit.files if file.content is None and file.error is None)
    folders = {os.path.dirname(os.path.abspath(path)) for path in on_disk}
    return "supabase" if inside or any(map(_in_supabase_project, folders)) else unit.convention


@cache
def _in_supabase_project(folder: str) -> bool:
    # Outside of a repository the folders above are somebody else's.
    top = top_of(folder)
    return top is not None and project_on_disk(folder, top) is not None


def _concerns(diagnostic: Diagnostic, context: frozenset[str]) -> bool:
    """Return whether a diagnostic, or one of its related places, is in a file whose label is not one of the context,
    or says that a file was not linted."""
    return (
        diagnostic.rule in rulebook.ALWAYS
        or diagnostic.span.source.label not in context
        or any(span.source.label not in context for span in diagnostic.related)
    )
