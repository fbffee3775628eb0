"""Linting the files of one unit, as every driver does it: read, judged, resolved to places; nothing raised."""

from __future__ import annotations

import os
from functools import cache
from typing import Protocol

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.file_types import Plan
from pubcheck.discovery.read import Reading, read_unit
from pubcheck.engine.linter import Result, Unit
from pubcheck.faults import Fault, fault_of
from pubcheck.findings import Finding, Resolver
from pubcheck.gitignore import top_of
from pubcheck.postgres.versions import DEFAULT_MAJOR


class SupportsLint(Protocol):
    """What judges units: ``pubcheck.Linter``, or what stands in its place."""

    @property
    def config(self) -> Config: ...

    def lint(self, unit: Unit) -> Result: ...


class LintedUnit(Struct, frozen=True):
    """What came of a unit: its findings, the diagnostics that they show, the majors judged, and the statements counted
    that are not of its context. ``reading`` is what was read of its files; ``faults`` are pubcheck's own errors, each
    among the findings unless it cost them all but those of reading."""

    findings: tuple[Finding, ...]
    diagnostics: tuple[Diagnostic, ...]
    postgres: tuple[int, ...]
    statements: int
    reading: Reading
    faults: tuple[Fault, ...] = ()


def lint_files(plan: Plan, linter: SupportsLint, *, excerpts: bool) -> LintedUnit:
    """Reads and lints a unit; what concerns none but files of its context is not reported. ``excerpts``: whether
    findings shall carry the lines to show with them."""
    config = linter.config
    majors = config.postgres or (DEFAULT_MAJOR,)
    reading = read_unit(plan.files, majors)
    context = frozenset(file.label for file in plan.files if file.context)
    diagnostics, statements, judged = reading.diagnostics, 0, False
    faults: tuple[Fault, ...] = ()
    if reading.sources:
        try:
            result = linter.lint(Unit(reading.sources, majors_of(plan, config), platform_of(plan), reading.diagnostics))
        except Exception as error:
            faults = (fault_of(error, plan.files[0].label),)
        else:
            judged, faults = True, result.faults
            diagnostics, statements, majors = result.diagnostics, result.statements, result.postgres
            if context:
                counted = zip(reading.sources, result.counts, strict=True)
                statements = sum(count for source, count in counted if source.label not in context)
    if not judged:
        # Loaded only where nothing was judged.
        from pubcheck.engine.suppressions import apply_config

        diagnostics = tuple(apply_config(diagnostics, config))
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    reported |= {rulebook.INTERNAL_ERROR}
    chosen = tuple(each for each in diagnostics if each.rule in reported and concerns(each, context))
    findings = Resolver(excerpts=excerpts, docs_url=config.docs_url).findings(chosen)
    return LintedUnit(tuple(findings), chosen, majors, statements, reading, faults)


def majors_of(plan: Plan, config: Config) -> tuple[int, ...]:
    """The majors that the configuration names for the unit, else the one in Supabase's own configuration; those of a
    dump's header the linter finds itself."""
    named = plan.habit == "configuration" or (plan.habit == "supabase" and not config.postgres)
    return plan.postgres if named else ()


def platform_of(plan: Plan) -> str:
    """Return the convention of a unit. It is "supabase" if a file of it is in a folder of that name, or if a folder
    above it in its repository holds a Supabase project."""
    inside = any("supabase" in file.label.split("/")[:-1] for file in plan.files)
    on_disk = {os.path.dirname(os.path.abspath(file.path)) for file in plan.files if file.content is None}
    return "supabase" if inside or any(map(_in_supabase_project, on_disk)) else plan.habit


@cache
def _in_supabase_project(folder: str) -> bool:
    """Whether a folder, or one above it in the same Git repository, has a subfolder that is a Supabase project."""
    top = top_of(folder)
    # Outside of a repository the folders above are somebody else's.
    return top is not None and _has_supabase(folder, top)


@cache
def _has_supabase(folder: str, top: str) -> bool:
    if any(os.path.exists(os.path.join(folder, "supabase", name)) for name in ("config.toml", "migrations")):
        return True
    return folder != top and _has_supabase(os.path.dirname(folder), top)


def concerns(diagnostic: Diagnostic, context: frozenset[str]) -> bool:
    """Whether a diagnostic lies, or one of its related places does, in a file whose label is not one of the context."""
    return diagnostic.span.source.label not in context or any(
        span.source.label not in context for span in diagnostic.related
    )
