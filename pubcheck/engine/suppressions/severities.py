"""What the configuration leaves out by file, and the severities that it sets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.diagnostics import SEVERITIES, Diagnostic, Severity


def apply_config(diagnostics: Iterable[Diagnostic], config: Config) -> Iterator[Diagnostic]:
    """The diagnostics that the ignores by file leave, with the severities of the configuration.

    A severity raises those diagnostics only that have their rule's own: what is a note because it is not known to be
    so (a name that is not visible) stays one.
    """
    if not config.per_file_ignores and not config.severity:
        yield from diagnostics
        return
    ignored = _IgnoredByFile(config)
    for found in diagnostics:
        if config.per_file_ignores and ignored(found):
            continue
        severity = severity_of(found, config)
        yield found if severity == found.severity else replace(found, severity=severity)


def severity_of(diagnostic: Diagnostic, config: Config) -> Severity:
    """How severe a diagnostic is under the configuration; of several codes that begin like its own the longest wins."""
    given = max(
        ((len(code), severity) for code, severity in config.severity if diagnostic.rule.startswith(code)),
        key=lambda pair: pair[0],
        default=None,
    )
    if given is None:
        return diagnostic.severity
    severity = given[1]
    raised = SEVERITIES.index(severity) > SEVERITIES.index(diagnostic.severity)
    if raised and diagnostic.severity != rulebook.RULES[diagnostic.rule].severity:
        return diagnostic.severity
    return severity


class _IgnoredByFile:
    """Whether a diagnostic is ignored in its file; patterns are relative to the configuration's folder."""

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
        # Loaded only where the configuration ignores by file.
        from pathspec import GitIgnoreSpec

        path = label
        if self._config.root:
            with_root = os.path.relpath(label, self._config.root).replace(os.sep, "/")
            path = label if with_root.startswith("../") else with_root
        for pattern, codes in self._config.per_file_ignores:
            if GitIgnoreSpec.from_lines([pattern]).match_file(path):
                yield from codes
