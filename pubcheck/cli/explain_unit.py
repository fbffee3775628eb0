"""Explaining one unit, as it also happens in a worker process: files in, a part of the document out, nothing raised."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.cli.lint_unit import named
from pubcheck.config import Config
from pubcheck.diagnostics import SEVERITIES
from pubcheck.discovery.file_types import Plan
from pubcheck.discovery.read import read_unit
from pubcheck.engine.linter import Linter, Unit
from pubcheck.explain.build import Wanted, explained
from pubcheck.explain.document import UnitExplained
from pubcheck.explain.row_samples import sampler
from pubcheck.faults import failure_text, fault_of
from pubcheck.findings import Finding, Resolver
from pubcheck.lint_files import concerns, majors_of, platform_of
from pubcheck.postgres.versions import DEFAULT_MAJOR


class Task(Struct, frozen=True):
    """A unit to explain for the last major of the configuration."""

    plan: Plan
    config: Config
    wanted: Wanted


class Explained(Struct, frozen=True):
    """What came of a unit. ``fails``: whether something is told that fails the run, as it would `lint`."""

    unit: UnitExplained | None
    postgres: tuple[int, ...] = ()
    statements: int = 0
    fails: bool = False
    crash: str | None = None


def explain_unit(task: Task) -> Explained:
    """Reads, follows and explains a unit. A unit that crashes the engine is left out."""
    plan = task.plan
    # All rules speak: those that would fire on most correct publications are off in lint, but not here.
    config = replace(task.config, postgres=task.config.postgres[-1:], select=("PUB",), ignore=())
    context = frozenset(file.label for file in plan.files if file.context)
    try:
        reading = read_unit(plan.files, config.postgres or (DEFAULT_MAJOR,))
        given = Unit(reading.sources, majors_of(plan, config), platform_of(plan), reading.diagnostics)
        followed = Linter(config).follow(given)
        result, fold = followed.result, followed.folds[-1]
        labels = [file.label for file in plan.files]
        # What is said of a table is true or not; whether the run fails is a matter of the files that are asked for.
        unit = explained(fold, followed.statements, followed.found, labels, task.wanted, sampler(fold))
        settled = Resolver(excerpts=False).findings(found for found in result.diagnostics if concerns(found, context))
        failing = fails(unit, settled, task.config)
    except Exception as error:
        return Explained(None, crash=failure_text([fault_of(error, named(plan))]))
    crash = failure_text((*result.faults, *fold.faults.faults))
    return Explained(unit, result.postgres, result.statements, failing, crash)


def died(task: Task) -> Explained:
    crash = f"internal error in {named(task.plan)}: the process that explained it died, perhaps for lack of memory"
    return Explained(None, crash=crash)


def fails(unit: UnitExplained, settled: Iterable[Finding], config: Config) -> bool:
    """Whether something that is told fails the run: a finding that `lint` would report, at least ``fail_on``, and
    certain unless assumed counts too. ``settled`` are those that no comment and no setting keeps out."""
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    least = SEVERITIES.index(config.fail_on)
    answers = [answer for publication in unit.publications for answer in publication.answers]
    told = {(finding.rule, finding.path, finding.line) for finding in unit.findings}
    for notes in (*(row.notes for row in unit.publications), *(answer.notes for answer in answers)):
        told.update((note.rule, note.path, note.line) for note in notes)
    refused = {(each.rule, table) for answer in answers for each in answer.refused for table in answer.tables}
    return any(
        SEVERITIES.index(entry.severity) >= least
        and (entry.certainty == "certain" or config.fail_on_assumed)
        and entry.rule in reported
        and ((entry.rule, entry.path, entry.line) in told or (entry.rule, entry.object) in refused)
        for entry in (finding.entry for finding in settled)
    )
