"""Apply ignore comments, per-file ignores and configured severities to the diagnostics of a unit.

A comment `-- pubcheck: ignore[PUB301] why` on a statement (before it, in it, or after it on its last line) suppresses
the statement's diagnostics of that rule. `ignore[PUB3,PUB604]` suppresses those of several rules, `ignore` all of them,
and `ignore-file[...]` those of the whole file. In other languages the comment may be one of that language. A comment
that suppresses nothing, or is not understood, is reported itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.diagnostics import SEVERITIES, Diagnostic, Edit, Fix, Severity, Span
from pubcheck.engine.suppressions import may_hold_comments
from pubcheck.engine.suppressions.comments import Code, Comment, CommentTargets, ConsumerComment, Unclear, comments
from pubcheck.source import Source

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.statement_index import Statements


UNUSED, UNCLEAR = "PUB011", "PUB012"


class _File:
    """The ignore comments of a source, and which of them were used."""

    def __init__(self, source: Source, bounds: tuple[Sequence[int], Sequence[int]]) -> None:
        self.source = source
        self.comments: list[Comment] = []
        self.unclear: list[Unclear] = []
        self.used: set[tuple[int, str]] = set()
        """The start of each used comment, with the code (or "" for all) that suppressed something."""
        self._starts, self._ends = bounds
        targets = CommentTargets(source, bounds)
        self._of_file: list[Comment] = []
        self._of_statement: dict[int, list[Comment]] = {}
        for comment in comments(source):
            if isinstance(comment, Unclear):
                self.unclear.append(comment)
                continue
            if isinstance(comment, ConsumerComment):
                if not any(_about_publication(source, targets, index) for index in targets.of(comment)):
                    message = "this comment names a consumer of a publication, and its statement is about none"
                    help_text = "write it before CREATE PUBLICATION"
                    self.unclear.append(Unclear(comment.start, comment.end, message, help_text))
                continue
            self.comments.append(comment)
            if comment.file:
                self._of_file.append(comment)
            else:
                for target in targets.of(comment):
                    self._of_statement.setdefault(target, []).append(comment)

    def suppresses(self, diagnostic: Diagnostic) -> bool:
        """Return whether a comment suppresses a diagnostic of this source. All comments that do are then used."""
        suppressed = False
        for comment in self._about(diagnostic):
            if comment.codes is None:
                self.used.add((comment.start, ""))
                suppressed = True
                continue
            for code in comment.codes:
                if diagnostic.rule.startswith(code.text):
                    self.used.add((comment.start, code.text))
                    suppressed = True
        return suppressed

    def names(self, code: str) -> bool:
        """Return whether a comment about the whole file names this exact code."""
        return any(listed.text == code for comment in self._of_file for listed in comment.codes or ())

    def _about(self, diagnostic: Diagnostic) -> Iterator[Comment]:
        yield from self._of_file
        statement = diagnostic.statement
        if statement is None or statement.source is not self.source:
            return
        for comment in self._of_statement.get(statement.index, ()):
            outside = not self._starts[statement.index] <= comment.start < self._ends[statement.index]
            if outside or not statement.embedded or self._is_next_to(comment, statement.start):
                yield comment

    def _is_next_to(self, comment: Comment, start: int) -> bool:
        """Return whether a comment within a statement applies to the inner one that begins at ``start``."""
        text = self.source.shown
        if comment.start < start:
            return not _without_comments(text[comment.end : start]).strip()
        return re.fullmatch(r"[^;]*(?:;[^\n\r;]*)?", text[start : comment.start]) is not None

    def unused(self, reported: Collection[str], majors: Collection[int]) -> Iterator[tuple[Comment, tuple[Code, ...]]]:
        """Yield unused comments, and the unused codes of the others. A code is unused only if a rule that it selects
        could have reported something."""
        for comment in self.comments:
            if comment.codes is None:
                if (comment.start, "") not in self.used:
                    yield comment, ()
                continue
            idle = tuple(
                code
                for code in comment.codes
                if (comment.start, code.text) not in self.used and _could_report(code.text, reported, majors)
            )
            if idle:
                yield comment, idle


def _about_publication(source: Source, targets: CommentTargets, index: int) -> bool:
    text = source.text[targets.starts[index] : targets.ends[index]]
    return "publication" in _without_comments(text).lower()


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n\r]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _could_report(selector: str, reported: Collection[str], majors: Collection[int]) -> bool:
    rules = (rule for code, rule in rulebook.RULES.items() if code.startswith(selector) and code in reported)
    return any(rule.code != UNUSED and not set(rule.postgres).isdisjoint(majors) for rule in rules)


def apply_suppressions(
    diagnostics: Iterable[Diagnostic],
    sources: Sequence[Source],
    statements: Statements,
    config: Config,
    majors: tuple[int, ...],
) -> list[Diagnostic]:
    """Return the diagnostics to report, unordered, with the configured severities and with diagnostics about comments.

    ``statements`` are those of ``sources``, by number.
    """
    remaining = list(diagnostics)
    files = {
        id(source): _File(source, statements.bounds(number))
        for number, source in enumerate(sources)
        if config.ignore_comments and may_hold_comments(source)
    }
    if files:
        reported = rulebook.selected(config.select, config.ignore, config.extend_select)
        remaining = [diagnostic for diagnostic in remaining if not _is_suppressed(diagnostic, files)]
        for file in files.values():
            about = (row for row in _comment_diagnostics(file, reported, majors) if row.rule in reported)
            remaining += [diagnostic for diagnostic in about if not file.names(diagnostic.rule)]
    return list(apply_config(remaining, config))


def _is_suppressed(diagnostic: Diagnostic, files: dict[int, _File]) -> bool:
    file = files.get(id(diagnostic.span.source))
    return file is not None and file.suppresses(diagnostic)


@rulebook.finder(UNUSED, UNCLEAR)
def _comment_diagnostics(file: _File, reported: Collection[str], majors: tuple[int, ...]) -> Iterator[Diagnostic]:
    for unclear in file.unclear:
        span = Span(file.source, unclear.start, unclear.end)
        yield rulebook.reading_diagnostic(UNCLEAR, unclear.message, span, majors, unclear.help)
    for comment, idle in file.unused(reported, majors):
        where = "this file" if comment.file else "the statement"
        whole = comment.codes is None or len(idle) == len(comment.codes)
        start, end = (comment.start, comment.end) if whole else (idle[0].start, idle[-1].end)
        codes = ", ".join(code.text for code in idle)
        yield rulebook.reading_diagnostic(
            UNUSED,
            f"there is nothing to ignore in {where}" if not codes else f"there is no {codes} to ignore in {where}",
            Span(file.source, start, end),
            majors,
            "remove the comment" if whole else f"remove {codes} from the comment",
            _removal(file.source, comment) if whole else _shortening(file.source, comment, idle),
        )


@rulebook.fixer(UNUSED)
def _removal(source: Source, comment: Comment) -> Fix:
    """Return the fix that removes the comment, and its line if nothing else is there."""
    text, start, end = source.shown, comment.start, comment.end
    while start > 0 and text[start - 1] in " \t":
        start -= 1
    rest = re.compile(r"[ \t]*(\r\n?|\n|\Z)").match(text, end)
    if rest is not None:
        alone = start == 0 or text[start - 1] in "\n\r"
        end = rest.end() if alone else rest.start(1)
    elif start == 0 or text[start - 1] in "\n\r":
        start = comment.start  # what follows keeps its indentation
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    return Fix("remove the comment", "safe", (Edit(Span(source, start, end), ""),))


@rulebook.fixer(UNUSED)
def _shortening(source: Source, comment: Comment, idle: Collection[Code]) -> Fix:
    remaining = [source.shown[code.start : code.end] for code in comment.codes or () if code not in idle]
    title = f"remove {', '.join(code.text for code in idle)} from the comment"
    return Fix(title, "safe", (Edit(Span(source, *comment.inner), ", ".join(remaining)),))


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
