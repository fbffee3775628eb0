"""Explaining one unit, as it also happens in a worker process: files in, a part of the document out, nothing raised."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.engine.linter import Linter
from pubcheck.explain.build import Selection, build_unit
from pubcheck.explain.document import UnitExplained
from pubcheck.explain.filters_compared import sampler
from pubcheck.faults import failure_text, fault_of
from pubcheck.findings import Entry
from pubcheck.lint_files import lint_files


class Task(Struct, frozen=True):
    """A unit to explain for the last major of the configuration."""

    unit: DiscoveredUnit
    config: Config
    selection: Selection
    messages: bool = False
    """Whether to add the example rows as messages of the stream."""


class Explained(Struct, frozen=True):
    """The explanation of a unit. ``fails``: whether it shows something that fails the run, as it would `lint`."""

    unit: UnitExplained | None
    postgres: tuple[int, ...] = ()
    statements: int = 0
    fails: bool = False
    crash: str | None = None


def explain_unit(task: Task) -> Explained:
    """Reads, lints and explains a unit. A unit that crashes the engine is left out."""
    unit = task.unit
    # All rules are selected: those that would fire on most correct publications are off in lint, but not here.
    config = replace(task.config, postgres=task.config.postgres[-1:], select=("PUB",), ignore=())
    linted = lint_files(unit, Linter(config), follow=True)
    followed = linted.followed
    if followed is None:
        return Explained(None, crash=failure_text(linted.faults))
    replay = followed.replays[-1]
    try:
        # The explanation is the same whichever files are context; only the exit status depends on them.
        labels = [file.label for file in unit.files]
        explanation = build_unit(
            replay, followed.statements, followed.findings, labels, task.selection, sampler(replay)
        )
        if task.messages:
            from pubcheck.verify.example_messages import with_messages

            explanation = with_messages(explanation, replay.session)
    except Exception as error:
        return Explained(None, crash=failure_text([fault_of(error, unit.title)]))
    failing = _fails(explanation, (finding.entry for finding in linted.findings), task.config)
    crash = failure_text((*linted.faults, *replay.faults.faults))
    return Explained(explanation, linted.postgres, followed.result.statements, failing, crash)


def died(task: Task) -> Explained:
    """Return the result of a task whose process died."""
    crash = f"internal error in {task.unit.title}: the process that explained it died, perhaps for lack of memory"
    return Explained(None, crash=crash)


def _fails(unit: UnitExplained, entries: Iterable[Entry], config: Config) -> bool:
    """Return whether a finding fails the run that `lint` would report and that the explanation shows. ``entries``
    are the unit's findings after ignore comments and settings."""
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    answers = [answer for publication in unit.publications for answer in publication.answers]
    shown = {(finding.rule, finding.path, finding.line) for finding in unit.findings}
    for notes in (*(row.notes for row in unit.publications), *(answer.notes for answer in answers)):
        shown.update((note.rule, note.path, note.line) for note in notes)
    refused = {(refusal.rule, table) for answer in answers for refusal in answer.refused for table in answer.tables}
    return any(
        config.fails_run(entry.severity, entry.certainty)
        and entry.rule in reported
        and ((entry.rule, entry.path, entry.line) in shown or (entry.rule, entry.object) in refused)
        for entry in entries
    )
