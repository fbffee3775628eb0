"""Apply per-file ignores and the severities of the configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.diagnostics import SEVERITIES, Diagnostic, Severity


def apply_config(diagnostics: Iterable[Diagnostic], config: Config) -> Iterator[Diagnostic]:
    """Yield the diagnostics that the per-file ignores leave, with the configured severities.

    A configured severity raises only diagnostics that have their rule's own severity. A note about something uncertain
    (an unknown name) stays a note.
    """
    if not config.per_file_ignores and not config.severity:
        yield from diagnostics
        return
    ignored = _IgnoredByFile(config)
    for diagnostic in diagnostics:
        if config.per_file_ignores and ignored(diagnostic):
            continue
        severity = severity_of(diagnostic, config)
        yield diagnostic if severity == diagnostic.severity else replace(diagnostic, severity=severity)


def severity_of(diagnostic: Diagnostic, config: Config) -> Severity:
    """Return the severity of a diagnostic under the configuration. The longest matching code wins."""
    configured = max(
        ((len(code), severity) for code, severity in config.severity if diagnostic.rule.startswith(code)),
        key=lambda pair: pair[0],
        default=None,
    )
    if configured is None:
        return diagnostic.severity
    severity = configured[1]
    raised = SEVERITIES.index(severity) > SEVERITIES.index(diagnostic.severity)
    if raised and diagnostic.severity != rulebook.RULES[diagnostic.rule].severity:
        return diagnostic.severity
    return severity


class _IgnoredByFile:
    """Decides whether a diagnostic is ignored in its file. Patterns are relative to the configuration's folder."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._codes: dict[str, tuple[str, ...]] = {}

    def __call__(self, diagnostic: Diagnostic) -> bool:
        label = diagnostic.span.source.label
        codes = self._codes.get(label)
        if codes is None:
            codes = self._codes[label] = tuple(self._of(label))
        return diagnostic.rule.startswith(codes) if codes else False

    def _of(self, label: str) -> Iterator[str]:
        from pathspec import GitIgnoreSpec

        path = label
        if self._config.root:
            with_root = os.path.relpath(label, self._config.root).replace(os.sep, "/")
            path = label if with_root.startswith("../") else with_root
        for pattern, codes in self._config.per_file_ignores:
            if GitIgnoreSpec.from_lines([pattern]).match_file(path):
                yield from codes
