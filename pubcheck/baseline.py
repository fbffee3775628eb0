"""Baselines: findings that are known already, kept in a file, so that a run reports what is new.

A finding is known by its fingerprint, which holds no line. Paths are relative to the baseline's folder, so that it does
not matter from where pubcheck is called.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pubcheck.config import Config, ConfigError
from pubcheck.findings import Entry, Finding
from pubcheck.fingerprints import fingerprints
from pubcheck.rulebook import ALWAYS

VERSION = 1


class KnownFinding(Struct, frozen=True, omit_defaults=True):
    """A finding of a baseline; all but the fingerprint is for people, to tell whether a run could find it, and to count
    the causes. A refused write has its operation, table and publication."""

    fingerprint: str
    rule: str
    path: str
    message: str
    postgres: tuple[int, ...]
    operation: str | None = None
    object: str | None = None
    publication: str | None = None


class _Document(Struct, frozen=True):
    pubcheck_baseline: int
    findings: tuple[KnownFinding, ...]


class Baseline(Struct, frozen=True):
    """The findings of a baseline by fingerprint, and the folder that its paths are relative to."""

    path: str
    known: dict[str, KnownFinding]

    def split(self, findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
        """Return a unit's findings that are new, and the fingerprints of those that are known."""
        names = list(fingerprints(_placed(findings, self.path)))
        new = tuple(finding for finding, name in zip(findings, names, strict=True) if name not in self.known)
        return new, tuple(name for name in names if name in self.known)

    def unknown(self, findings: Sequence[Finding]) -> list[bool]:
        """Return for each of a unit's findings whether it is new."""
        return [name not in self.known for name in fingerprints(_placed(findings, self.path))]

    def stale(
        self, fingerprints: Collection[str], labels: Iterable[str], rules: Collection[str], majors: Collection[int]
    ) -> list[KnownFinding]:
        """Return the entries that a run over the files of these labels, rules and majors should have found again and
        did not, and those of files that are gone."""
        folder = os.path.dirname(os.path.abspath(self.path))
        linted_paths = {_relative(label, self.path) for label in labels}
        return [
            entry
            for fingerprint, entry in self.known.items()
            if fingerprint not in fingerprints
            and entry.rule in rules
            and not set(entry.postgres).isdisjoint(majors)
            and (entry.path in linted_paths or not os.path.exists(os.path.join(folder, entry.path)))
        ]


def count_causes(entries: Iterable[KnownFinding]) -> int:
    """Return the number of findings as reports for people count them: UPDATE and DELETE of one cause are one."""
    numbers: dict[tuple[str | None, ...], Counter[str | None]] = {}
    for entry in entries:
        cause = entry.path, entry.rule, entry.object, entry.publication
        numbers.setdefault(cause, Counter())[entry.operation] += 1
    return sum(max(counter.values()) for counter in numbers.values())


def _relative(label: str, baseline: str) -> str:
    """Return a file's path from the baseline's folder; what has no path (standard input) keeps its name."""
    folder = os.path.dirname(os.path.abspath(baseline))
    try:
        return os.path.relpath(label, folder).replace(os.sep, "/") if not label.startswith("<") else label
    except ValueError:  # another drive
        return label


def _placed(findings: Iterable[Finding], baseline: str) -> list[Entry]:
    paths: dict[str, str] = {}
    entries = []
    for finding in findings:
        label = finding.entry.path
        if label not in paths:
            paths[label] = _relative(label, baseline)
        entries.append(replace(finding.entry, path=paths[label]))
    return entries


def read(path: str) -> Baseline:
    """Return the baseline in a file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise ConfigError(
            f"baseline {path}: cannot be read: {error.strerror}; create it with --write-baseline"
        ) from None
    try:
        document = msgspec.json.decode(content, type=_Document)
    except msgspec.MsgspecError as error:
        raise ConfigError(f"baseline {path}: this is not a pubcheck baseline: {error}") from None
    if document.pubcheck_baseline != VERSION:
        raise ConfigError(f"baseline {path}: written by a later pubcheck; write it again with --write-baseline")
    return Baseline(path, {entry.fingerprint: entry for entry in document.findings})


def of_config(config: Config) -> Baseline | None:
    """Return the baseline that a configuration names. Raises ConfigError."""
    return read(os.path.join(config.root, config.baseline)) if config.baseline else None


def text(units: Iterable[Sequence[Finding]], path: str) -> tuple[str, int]:
    """Return the text of the baseline that knows all findings of these units, and how many causes it knows."""
    entries: dict[str, KnownFinding] = {}
    for findings in units:
        placed = _placed(findings, path)
        for fingerprint, entry, finding in zip(fingerprints(placed), placed, findings, strict=True):
            if entry.rule in ALWAYS:
                continue
            write = (entry.operation, entry.object, entry.publication) if finding.write is not None else ()
            entries[fingerprint] = KnownFinding(
                fingerprint, entry.rule, entry.path, entry.message, entry.postgres, *write
            )
    ordered = sorted(entries.values(), key=lambda entry: (entry.path, entry.rule, entry.message, entry.fingerprint))
    lines = ",\n".join(msgspec.json.encode(entry).decode() for entry in ordered)
    return f'{{"pubcheck_baseline": {VERSION}, "findings": [\n{lines}\n]}}\n', count_causes(entries.values())
