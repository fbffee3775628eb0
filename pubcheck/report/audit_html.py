"""The pages of an audit: its report, whose content are counts and the first of each list and does not grow with the
corpus, and its survey.

`html/templates/audit.html` is the page. This module draws its plots, orders its tables and renders the pages of the
rules that have findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import sqrt

from markupsafe import Markup
from msgspec import Struct

from pubcheck import rulebook
from pubcheck.diagnostics import SEVERITIES
from pubcheck.html import page
from pubcheck.html.page import rule_pages
from pubcheck.report import audit_plots as plots
from pubcheck.report import count
from pubcheck.report.audit_plots import Bar, Part


class Ends(Struct, frozen=True):
    """A number of items, in total and by result; the three results add up to ``all``."""

    all: int
    linted: int
    nothing_to_lint: int
    quarantined: int


class Rule(Struct, frozen=True):
    """The findings of a rule: their number, the number of repositories, and one place."""

    code: str
    name: str
    phase: str
    severity: str
    certain: int
    assumed: int
    repositories: int
    path: str | None
    line: int | None
    message: str

    @property
    def count(self) -> int:
        return self.certain + self.assumed


class Finding(Struct, frozen=True):
    """One finding. ``path`` begins with the repository's folder."""

    rule: str
    severity: str
    certainty: str
    path: str | None
    line: int | None
    message: str


class Repository(Struct, frozen=True):
    """A repository. ``rules``: the number of findings by the code of the rule."""

    name: str
    units: int
    errors: int
    warnings: int
    notes: int
    rules: dict[str, int]


class Owner(Struct, frozen=True):
    """An owner, as CODEOWNERS names it, and the findings in its files; empty for files without an owner."""

    name: str
    repositories: int
    errors: int
    warnings: int
    notes: int


class Usage(Struct, frozen=True):
    """The number of publications with a property, and of their repositories."""

    publications: int
    repositories: int


class Features(Struct, frozen=True):
    """The publications of a corpus. ``used`` by what they have; ``verdicts`` counts publication, table and operation
    by operation and verdict."""

    publications: int
    repositories: int
    tables: int
    used: dict[str, Usage]
    verdicts: dict[str, dict[str, int]]


class Quarantined(Struct, frozen=True):
    """A reason: the number of units, of files, and one example with its text."""

    reason: str
    units: int
    files: int
    example: str
    detail: str


class Slow(Struct, frozen=True):
    unit: str
    seconds: float
    statements: int
    bytes: int


class RuleChange(Struct, frozen=True):
    """Findings of a rule that are new, gone, and in both runs."""

    code: str
    new: int
    gone: int
    same: int


class Change(Struct, frozen=True):
    """The differences from another run.

    ``alike``: both had the same pubcheck, rules and configuration. ``input`` is the input of the other run if it
    differs. ``repositories_new`` and ``repositories_gone`` are those that only one of the runs read.
    """

    run: str
    finished: str
    alike: bool
    rules: tuple[RuleChange, ...]
    repositories_new: int
    repositories_gone: int
    input: str | None = None


class Past(Struct, frozen=True):
    """A run and what it counted."""

    run: str
    units: int
    errors: int
    warnings: int
    notes: int


class Audit(Struct, frozen=True, kw_only=True):
    """One run.

    Lists have the first items, in the order in which they are shown. ``severities`` counts findings, ``spread``
    repositories by their number of errors and warnings. ``findings`` has the first findings of each rule. ``history``
    ends with this run.
    """

    run: str
    pubcheck: str
    spark: str
    input: str
    started: str
    seconds: float
    since: str | None
    postgres: tuple[int, ...]
    repositories: int
    units: Ends
    files: Ends
    carried: int
    statements: int
    bytes: int
    severities: dict[str, int]
    rules: tuple[Rule, ...]
    findings: tuple[Finding, ...]
    worst: tuple[Repository, ...]
    spread: dict[str, int]
    features: Features
    quarantine: tuple[Quarantined, ...]
    slowest: tuple[Slow, ...]
    change: Change | None
    history: tuple[Past, ...]
    owners: tuple[Owner, ...] = ()


SHOWN = 20
"""Bars of a plot; the tables next to them go on."""
_ROWS, _COLUMNS = 15, 12
"""The size of the matrix of repositories and rules."""

REASONS = {
    "unreadable": "the file could not be opened or read",
    "not-text": "the file contains bytes that no SQL file contains, or its encoding is unknown",
    "too-large": "larger than --max-file-size, or the unit larger than --max-unit-size",
    "duplicate": "the path occurs twice in its repository; the first one counts",
    "not-postgresql": "most of its statements are for another database system",
    "time-out": "not finished within --unit-timeout",
    "memory": "needed more than --unit-memory",
    "crashed": "the process that linted it died",
    "internal-error": "a bug in pubcheck, please report it; the trace is in the table quarantine",
}

_ENDS = (Part("linted", "fine"), Part("nothing to lint", "line"), Part("quarantined", "warning"))
_SEVERITIES = tuple(Part(f"{severity}s", severity) for severity in reversed(SEVERITIES))
_CERTAINTY = {severity: (Part("certain", severity), Part("assumed", severity, 0.4)) for severity in SEVERITIES}
_VERDICTS = (
    Part("sent", "fine"),
    Part("filtered", "blue"),
    Part("refused", "error"),
    Part("unknown", "line"),
)


class _Plot(Struct, frozen=True):
    """A drawing with the meaning of its colours, under a heading if it has one."""

    drawing: Markup
    legend: Sequence[Part] = ()
    heading: str = ""


def _plot(svg: str, legend: Sequence[Part] = (), heading: str = "") -> _Plot:
    return _Plot(Markup(svg), legend, heading)


def render(audit: Audit) -> Iterator[str]:
    """Return the page in pieces."""
    ends = [
        Bar(label, (of.linted, of.nothing_to_lint, of.quarantined))
        for label, of in (("units", audit.units), ("files", audit.files))
    ]
    return page.render(
        "audit.html",
        audit=audit,
        rules=rulebook.RULES,
        reasons=REASONS,
        count=count,
        size=_size,
        name=_name,
        most_frequent=_most_frequent,
        severities=list(_severities(audit)),
        ends=_plot(plots.shares("Results for units and files, in percent", _ENDS, ends), _ENDS),
        ended=[Bar(bar.label, (*bar.counts, sum(bar.counts))) for bar in ends],
        by_severity=list(_by_severity(audit.rules)),
        history=_history(audit),
        repositories=list(_repositories(audit)),
        quarantined=_quarantined(audit.quarantine),
        pages=list(rule_pages(rule.code for rule in audit.rules)),
        **_changes(audit.change),
        **_publications(audit.features),
    )


def _size(count: float) -> str:
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:,.0f} {units[0]}" if units[0] == "bytes" or count >= 100 else f"{count:,.1f} {units[0]}"


def _name(code: str) -> str:
    rule = rulebook.RULES.get(code)
    return rule.name if rule is not None else ""


def _href(code: str) -> str | None:
    """Return the place of a rule's page, unless it is a rule of another version."""
    return f"#{code}" if code in rulebook.RULES else None


def _most_frequent(repository: Repository) -> list[tuple[str, int]]:
    """Return the five rules with the most findings."""
    return sorted(repository.rules.items(), key=lambda item: (-item[1], item[0]))[:5]


def _severities(audit: Audit) -> Iterator[tuple[str, int, str | None]]:
    """Each severity, its findings, and by how many these differ from the other run: None without one."""
    before = next((past for past in audit.history if audit.change and past.run == audit.change.run), None)
    for severity in reversed(SEVERITIES):
        number = audit.severities[severity]
        difference = None
        if before is not None:
            more = number - int(getattr(before, f"{severity}s"))
            difference = f"{more:+,}".replace("-", "−") if more else ""
        yield severity, number, difference


def _by_severity(all_rules: Sequence[Rule]) -> Iterator[_Plot]:
    for severity in reversed(SEVERITIES):
        rules = [rule for rule in all_rules if rule.severity == severity]
        if rules:
            bars = [Bar(f"{rule.code} {rule.name}", (rule.certain, rule.assumed), _href(rule.code)) for rule in rules]
            title = f"{severity.capitalize()}s by rule"
            if len(rules) > SHOWN:
                title += f", the first {SHOWN} of {len(rules)}"
            yield _plot(plots.bars(title, _CERTAINTY[severity], bars[:SHOWN]), _CERTAINTY[severity], title)


def _changes(change: Change | None) -> dict[str, object]:
    """Return the rules with new or vanished findings, those without, and the plot of the former."""
    if change is None:
        return {}
    changed = [rule for rule in change.rules if rule.new or rule.gone]
    changed.sort(key=lambda rule: (-rule.new - rule.gone, rule.code))
    unchanged = [rule for rule in change.rules if not rule.new and not rule.gone]
    bars = [Bar(f"{rule.code} {_name(rule.code)}", (rule.gone, rule.new), _href(rule.code)) for rule in changed]
    plot = plots.differences("Findings gone and new, by rule", bars[:SHOWN]) if bars else None
    return {
        "changed": changed,
        "unchanged": unchanged,
        "differences": _plot(plot, (Part("gone", "fine"), Part("new", "error"))) if plot else None,
    }


def _history(audit: Audit) -> _Plot | None:
    if len(audit.history) <= 2:
        return None
    steps = [(past.run, (past.errors, past.warnings, past.notes)) for past in audit.history]
    return _plot(plots.lines("Findings run by run", _SEVERITIES, steps), _SEVERITIES)


def _repositories(audit: Audit) -> Iterator[_Plot]:
    if not audit.worst:
        return
    spread = plots.bars(
        "Repositories by number of errors and warnings",
        (Part("repositories", "blue"),),
        [Bar(name, (count,)) for name, count in audit.spread.items()],
        whole=audit.repositories,
    )
    yield _plot(spread, heading="Errors and warnings in a repository")
    codes = [rule.code for rule in audit.rules if any(rule.code in row.rules for row in audit.worst[:_ROWS])]
    columns = [(code, _href(code)) for code in dict.fromkeys(codes)][:_COLUMNS]
    rows = [Bar(row.name, tuple(row.rules.get(code, 0) for code, _ in columns)) for row in audit.worst[:_ROWS]]
    matrix = plots.matrix("Findings of the worst repositories, by rule", columns, rows)
    yield _plot(matrix, heading="The worst, by rule")


def _publications(features: Features) -> dict[str, object]:
    """Yield plots and rows of the features of publications, the most frequent first, and of each operation."""
    if not features.publications:
        return {}
    most_used = sorted(features.used.items(), key=lambda item: (-item[1].publications, item[0]))
    bars = [Bar(name, (share.publications,)) for name, share in most_used if share.publications]
    publications = (Part("publications", "blue"),)
    used = plots.bars("Publications by feature", publications, bars, whole=features.publications)
    operations = [
        Bar(operation.upper(), tuple(counts.get(part.name, 0) for part in _VERDICTS))
        for operation, counts in features.verdicts.items()
    ]
    verdicts = plots.shares("What happens to each operation on a published table, in percent", _VERDICTS, operations)
    return {
        "most_used": most_used,
        "used": _plot(used, heading="Features"),
        "operations": operations,
        "verdicts": _plot(verdicts, _VERDICTS, "Outcome on the publisher"),
    }


def _quarantined(reasons: Sequence[Quarantined]) -> _Plot | None:
    if not reasons:
        return None
    parts = (Part("units", "warning"), Part("files", "line"))
    bars = [Bar(group.reason, (group.units, group.files)) for group in reasons]
    return _plot(plots.bars("Quarantined, by reason", parts, bars), parts)


# The survey of a corpus: how many publications and repositories have a feature, and how sure that share is.

_Z = 1.959963984540054
"""The quantile of the normal distribution for an interval of 95 percent."""


class Share(Struct, frozen=True):
    """How many of ``whole`` things of a ``kind`` (publications, repositories, units, or tables and operations) are as
    ``item`` says, in the part ``subject`` of the survey; between ``low`` and ``high`` lies, with 95 percent
    confidence, the share in the population that the corpus is a sample of."""

    subject: str
    item: str
    kind: str
    count: int
    whole: int
    share: float
    low: float
    high: float


def share(subject: str, item: str, kind: str, count: int, whole: int) -> Share:
    """Return a share with its interval."""
    low, high = wilson(count, whole)
    return Share(subject, item, kind, count, whole, count / whole if whole else 0.0, low, high)


def wilson(count: int, whole: int) -> tuple[float, float]:
    """Return the bounds of the score interval of 95 percent; 0 and 1 where nothing was counted."""
    if not whole:
        return 0.0, 1.0
    observed, square = count / whole, _Z * _Z
    centre = observed + square / (2 * whole)
    margin = _Z * sqrt(observed * (1 - observed) / whole + square / (4 * whole * whole))
    scale = 1 + square / whole
    return max(0.0, (centre - margin) / scale), min(1.0, (centre + margin) / scale)


class SurveyPage(Struct, frozen=True):
    """The survey of a run, as the page shows it."""

    run: str
    input: str
    pubcheck: str
    shares: Sequence[Share]


def render_survey(survey: SurveyPage) -> Iterator[str]:
    """Return the page in pieces. Its length depends on the rules, features and consumers, not on the corpus."""
    subjects = [
        (subject, [(kind, list(of_kind)) for kind, of_kind in groupby(shares, key=lambda share: share.kind)])
        for subject, shares in groupby(survey.shares, key=lambda share: share.subject)
    ]
    return page.render("survey.html", survey=survey, subjects=subjects)
