"""The lines below a report of `pubcheck lint`: fixes and ignores that were applied, fixes that can be, the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.findings import Report
from pubcheck.report import count
from pubcheck.report.statistics import causes

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.baseline import Baseline
    from pubcheck.cli.lint_unit import Change, Outcome


class LintRun(Struct, frozen=True):
    """A run and its result. ``unwritten`` are the labels of files that a change could not be written to,
    ``variables`` the names of psql's variables that the command line sets."""

    report: Report
    outcomes: Sequence[Outcome]
    units: Sequence[DiscoveredUnit]
    config: Config
    baseline: Baseline | None
    change: Change | None
    diff: bool
    unwritten: frozenset[str]
    variables: tuple[str, ...]


def closing_lines(run: LintRun) -> Iterator[str]:
    yield from _applied(run)
    yield from _fixable(run)
    if run.baseline is not None:
        yield from _recorded(run, run.baseline)
    for name in run.variables:
        if not any(name in outcome.used_variables for outcome in run.outcomes):
            yield f"Not used: -v {name}; no file names :{name}."


def _applied(run: LintRun) -> Iterator[str]:
    applied = [fix for outcome in run.outcomes for fix in outcome.applied if run.unwritten.isdisjoint(fix.labels)]
    findings = sum(applied_fix.number for applied_fix in applied)
    files = len({file.label for outcome in run.outcomes for file in outcome.rewritten} - run.unwritten)
    if findings:
        verbs = {"ignore": ("Would ignore", "Ignored")}.get(run.change or "", ("Would fix", "Fixed"))
        yield f"{verbs[not run.diff]} {count(findings, 'finding', 'd')} in {count(files, 'file', 'd')}."


def _fixable(run: LintRun) -> Iterator[str]:
    labels = {file.label for unit in run.units for file in unit.files if not file.context}
    safe, unsafe = (_with_fix(run.report, applicability, labels) for applicability in ("safe", "unsafe"))
    if run.change is None and (safe or unsafe):
        parts = [f"{safe} with --fix"] if safe else []
        parts += [f"{unsafe}{' more' if safe else ''} with --fix --unsafe-fixes"] if unsafe else []
        yield f"Can be fixed: {', '.join(parts)}."
    elif run.change == "fix" and unsafe and not run.diff:
        yield f"Can be fixed: {unsafe} more with --unsafe-fixes."


def _with_fix(report: Report, applicability: str, labels: Set[str]) -> int:
    """Return the number of findings whose best fix is of that applicability and changes only the files of these
    labels; UPDATE and DELETE of one cause count once."""
    fixes = [
        {fix.applicability for fix in group[0].entry.fixes if fix.edits and {edit.path for edit in fix.edits} <= labels}
        for group in causes(report.findings)
    ]
    return sum(applicability in group and (applicability == "safe" or "safe" not in group) for group in fixes)


def _recorded(run: LintRun, baseline: Baseline) -> Iterator[str]:
    from pubcheck.baseline import count_causes

    config = run.config
    known = {name for outcome in run.outcomes for name in outcome.known_fingerprints}
    labels = [file.label for unit in run.units for file in unit.files if not file.context]
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    stale = baseline.stale(known, labels, reported, run.report.postgres) if run.change is None else []
    if known:
        number = count_causes(baseline.known[name] for name in known)
        yield f"Not shown: {count(number, 'finding', 'd')} recorded in {baseline.path}."
    if stale:
        yield (
            f"No longer found: {count(count_causes(stale), 'finding', 'd')} recorded in {baseline.path};"
            f" --write-baseline {baseline.path} removes them."
        )
