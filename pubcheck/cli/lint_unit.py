"""Linting one unit, as it also happens in a worker process: files in, findings out, nothing raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.findings import Entry, Finding

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from typing import Literal

    from pubcheck.autofix import AppliedFixes, Rewritten
    from pubcheck.baseline import Baseline
    from pubcheck.engine.linter import Linter
    from pubcheck.lint_files import LintedUnit

    Change = Literal["fix", "unsafe-fix", "ignore"]


class Task(Struct, frozen=True):
    """A unit to lint.

    ``excerpts``: whether to add source lines to its findings. ``change``: what to change for findings that are not in
    ``baseline``.
    """

    unit: DiscoveredUnit
    config: Config
    excerpts: bool
    baseline: Baseline | None = None
    change: Change | None = None


class Outcome(Struct, frozen=True):
    """The result of linting a unit: findings, files, and in ``crash`` the text about pubcheck's own errors.

    ``known`` are the fingerprints of findings in the baseline, which are not among ``findings``. ``rewritten`` are the
    files after the requested change, and ``done`` is the number of findings that it resolved.
    ``used_variables`` are the variables of the configuration that a file names, and ``publications`` the names of the
    publications that there are at the end.
    """

    findings: tuple[Finding, ...]
    postgres: tuple[int, ...]
    files: int
    statements: int
    crash: str | None = None
    known_fingerprints: tuple[str, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    applied: tuple[AppliedFixes, ...] = ()
    used_variables: tuple[str, ...] = ()
    publications: frozenset[str] = frozenset()


def lint_unit(task: Task, warm_linter: Linter | None = None) -> Outcome:
    """Read and lint a unit; a linter that keeps the state of a unit goes on from there."""
    from pubcheck.engine import linter as engine
    from pubcheck.faults import failure_text
    from pubcheck.lint_files import lint_files

    linter = warm_linter or engine.Linter(task.config)
    rewritten: tuple[Rewritten, ...] = ()
    applied: tuple[AppliedFixes, ...] = ()
    if task.change is None:
        linted = lint_files(task.unit, linter, excerpts=task.excerpts, follow=warm_linter is not None)
    else:
        linted, rewritten, applied = _changed(task, lambda unit: lint_files(unit, linter, excerpts=task.excerpts))
    findings: tuple[Finding, ...] = linted.findings
    known_fingerprints: tuple[str, ...] = ()
    if task.baseline is not None:
        findings, known_fingerprints = task.baseline.split(findings)
    files, crash = reported_files(task.unit), failure_text(linted.faults)
    used_variables: tuple[str, ...] = ()
    if task.config.variables:
        from pubcheck.lexing.psql import names_variable

        texts = [source.text for source in linted.reading.sources]
        used_variables = tuple(
            name for name, _ in task.config.variables if any(names_variable(text, name) for text in texts)
        )
    return Outcome(
        *(findings, linted.postgres, files, linted.statements, crash),
        *(known_fingerprints, rewritten, applied, used_variables, linted.publications),
    )


def with_all_publications(outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """Return outcomes without the findings about consumers that a publication does not exist which another unit has."""
    if len(outcomes) < 2 or not any(
        finding.entry.rule == _MISSING for outcome in outcomes for finding in outcome.findings
    ):
        return outcomes
    from pubcheck.checks.consumers.readers import matches

    names = frozenset[str]().union(*(outcome.publications for outcome in outcomes))

    def is_elsewhere(entry: Entry) -> bool:
        return entry.rule == _MISSING and any(matches(entry.publications, name) for name in names)

    return [
        replace(outcome, findings=tuple(finding for finding in outcome.findings if not is_elsewhere(finding.entry)))
        for outcome in outcomes
    ]


_MISSING = "PUB901"


def _changed(
    task: Task, lint: Callable[[DiscoveredUnit], LintedUnit]
) -> tuple[LintedUnit, tuple[Rewritten, ...], tuple[AppliedFixes, ...]]:
    from pubcheck.autofix import add_ignores, everything, fix

    included = everything if task.baseline is None else task.baseline.unknown
    if task.change == "ignore":
        changes = add_ignores(task.unit, lint, included=included)
    else:
        changes = fix(task.unit, lint, unsafe=task.change == "unsafe-fix", included=included)
    return changes.linted, changes.files, changes.applied


def reported_files(unit: DiscoveredUnit) -> int:
    """Return the number of a unit's files that are reported."""
    return sum(not file.context for file in unit.files)


def ready() -> None:
    """Load what ``lint_unit`` needs: most of it is loaded when it is first met, so this lints a little."""
    sql = b"CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t WHERE (id > 0);"
    lint_unit(Task(DiscoveredUnit("", (File("", "", content=sql),), "stdin", ""), Config(), excerpts=False))


def died(task: Task) -> Outcome:
    """Return the outcome of a task whose process died."""
    crash = f"internal error in {task.unit.title}: the process that linted it died, perhaps for lack of memory"
    return Outcome((), task.config.postgres, reported_files(task.unit), 0, crash)
