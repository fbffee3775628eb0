"""The content of an audit's report: counts, and the first of each list. It does not grow with the corpus."""

from __future__ import annotations

from msgspec import Struct


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


class Share(Struct, frozen=True):
    """The number of publications with a property, and of their repositories."""

    publications: int
    repositories: int


class Features(Struct, frozen=True):
    """The publications of a corpus. ``used`` by what they have; ``verdicts`` counts publication, table and operation
    by operation and verdict."""

    publications: int
    repositories: int
    tables: int
    used: dict[str, Share]
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
