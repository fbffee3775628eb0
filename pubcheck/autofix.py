"""Changing files: the fixes that diagnostics carry, and comments that ignore them.

Nothing here writes a file. A unit is linted, changed in memory and linted again until nothing changes, and what comes
of it is the files as they were and as they would be. An edit keeps a file's encoding, byte order mark and line ends; a
file whose bytes do not come back the same from its text is left alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.diagnostics import Applicability, Diagnostic, Edit, Fix, Span
from pubcheck.discovery.file_types import SUFFIXES, DiscoveredUnit, File, view_of
from pubcheck.engine.suppressions.apply import UNCLEAR, UNUSED
from pubcheck.engine.suppressions.comments import Comment, comments
from pubcheck.findings import Finding
from pubcheck.lint_files import LintedUnit
from pubcheck.rulebook import INTERNAL_ERROR
from pubcheck.source import Source, decode

ROUNDS = 10
"""The maximum number of times that a unit is linted and changed. A fix can reveal other findings."""

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CODECS = {"windows-1252": "cp1252"}
_PLAIN = re.compile(r"[\w ,.()=<>*/:\[\]-]*")
"""Characters that need no escape in a string of any language."""


class Rewritten(Struct, frozen=True):
    """A file's text before and after the change."""

    path: str
    label: str
    before: bytes
    after: bytes


class AppliedFixes(Struct, frozen=True, order=True):
    """The number of findings of a rule that edits of these files (by label) resolved."""

    rule: str
    labels: tuple[str, ...]
    number: int


class Changes(Struct, frozen=True):
    """A unit after its changes: what is found in it then, the files that changed, and what that took care of."""

    linted: LintedUnit
    files: tuple[Rewritten, ...]
    applied: tuple[AppliedFixes, ...]


Lint = Callable[[DiscoveredUnit], LintedUnit]
Selection = Callable[[Sequence[Finding]], Iterable[bool]]
"""A function that selects the findings of a unit to resolve."""


def everything(findings: Sequence[Finding]) -> Iterable[bool]:
    return (True for _ in findings)


def fix(unit: DiscoveredUnit, lint: Lint, *, unsafe: bool, included: Selection = everything) -> Changes:
    """Apply the safe fixes of a unit's findings, and the unsafe ones too where ``unsafe`` says so."""
    allowed: frozenset[Applicability] = frozenset(("safe", "unsafe") if unsafe else ("safe",))

    def edits(linted: LintedUnit) -> Iterator[tuple[str, tuple[Edit, ...]]]:
        tables: dict[str, Fix] = {}
        causes: set[object] = set()
        for diagnostic, yes in zip(linted.diagnostics, included(linted.findings), strict=True):
            fixes = (fix for fix in diagnostic.fixes if fix.applicability in allowed and fix.edits)
            chosen = next(fixes, None) if yes else None
            if chosen is None:
                continue
            table = diagnostic.object if diagnostic.phase == "write" else None
            if table is not None:
                # What changes the table may end its other causes as well: one such fix a table, then look again.
                first = tables.setdefault(table, chosen)
                if (first.whole or chosen.whole) and first.edits != chosen.edits:
                    continue
                # UPDATE and DELETE of one cause are one finding.
                cause = diagnostic.rule, table, diagnostic.publications, chosen.edits
                if cause in causes:
                    continue
                causes.add(cause)
            yield diagnostic.rule, chosen.edits

    return _change(unit, lint, edits, ROUNDS)


def add_ignores(unit: DiscoveredUnit, lint: Lint, *, included: Selection = everything) -> Changes:
    """Put a comment on every statement that has findings, and one at the end of a file for those of the file."""

    def edits(linted: LintedUnit) -> Iterator[tuple[str, tuple[Edit, ...]]]:
        causes: dict[object, Diagnostic] = {}
        for diagnostic, yes in zip(linted.diagnostics, included(linted.findings), strict=True):
            if yes and diagnostic.rule != INTERNAL_ERROR:
                # UPDATE and DELETE of one cause are one finding.
                refused = (diagnostic.object, diagnostic.publications) if diagnostic.phase == "write" else len(causes)
                causes.setdefault((diagnostic.rule, diagnostic.span, refused), diagnostic)
        yield from comments_for(causes.values())

    return _change(unit, lint, edits, 1)


def _change(
    unit: DiscoveredUnit, lint: Lint, edits: Callable[[LintedUnit], Iterator[tuple[str, tuple[Edit, ...]]]], rounds: int
) -> Changes:
    before: dict[str, bytes] = {}
    applied: Counter[tuple[str, tuple[str, ...]]] = Counter()
    linted = lint(unit)
    for _ in range(rounds):
        contents, counted = _edited(unit, linted.reading.sources, list(edits(linted)))
        if not contents:
            break
        applied += counted
        files = []
        for file in unit.files:
            change = None if file.context else contents.get(file.label)
            if change is not None:
                before.setdefault(file.label, change[0])
                file = replace(file, content=change[1])
            files.append(file)
        unit = replace(unit, files=tuple(files))
        linted = lint(unit)
    changed = tuple(
        Rewritten(file.path, file.label, before[file.label], file.content)
        for file in unit.files
        if file.content is not None and file.label in before and before[file.label] != file.content
    )
    return Changes(linted, changed, tuple(sorted(AppliedFixes(*key, number) for key, number in applied.items())))


def _edited(
    unit: DiscoveredUnit, sources: Iterable[Source], proposals: Sequence[tuple[str, tuple[Edit, ...]]]
) -> tuple[dict[str, tuple[bytes, bytes]], Counter[tuple[str, tuple[str, ...]]]]:
    """Return the files' contents before and after one round, by label, and the applied edits by rule and files.

    Each of ``proposals`` is applied whole or not at all: not if it overlaps an earlier one.
    """
    texts: dict[int, Editing | None] = {}
    by_label = {file.label: file for file in unit.files if not file.context}
    source_ids = {id(source) for source in sources}
    changed: list[Editing] = []
    applied: Counter[tuple[str, tuple[str, ...]]] = Counter()
    applied_edits: set[tuple[tuple[int, int, int, str], ...]] = set()
    for rule, edits in proposals:
        key = tuple((id(edit.span.source), edit.span.start, edit.span.end, edit.text) for edit in edits)
        counted = rule, tuple(sorted({edit.span.source.label for edit in edits}))
        if key in applied_edits:
            applied[counted] += 1
            continue
        places = []
        for edit in edits:
            source = edit.span.source
            if id(source) not in texts:
                file = by_label.get(source.label) if id(source) in source_ids else None
                texts[id(source)] = None if file is None else Editing.of(file, source)
            text = texts[id(source)]
            if text is None or not text.takes(edit):
                break
            places.append((text, edit))
        else:
            applied_edits.add(key)
            applied[counted] += 1
            for text, edit in places:
                text.take(edit)
                changed.append(text)
    return {
        text.file.label: (text.bytes, text.content()) for text in {id(text): text for text in changed}.values()
    }, applied


class Editing:
    """A file's text, what it is to have changed, and the way back to bytes."""

    def __init__(self, file: File, source: Source, content: bytes, encoding: str) -> None:
        self.file, self.source, self.bytes = file, source, content
        self.edits: list[Edit] = []
        self._codec = _CODECS.get(encoding, encoding)
        self._mark = next((mark for mark in _BYTE_ORDER_MARKS if content.startswith(mark)), b"")
        self._replaced: list[tuple[int, ...]] = []
        self._inserted: list[int] = []
        self._taken: set[tuple[int, int, str]] = set()
        shown = source.shown
        self._newline = "\r\n" if "\r\n" in shown else "\r" if "\r" in shown and "\n" not in shown else "\n"

    @classmethod
    def of(cls, file: File, source: Source) -> Editing | None:
        """Return the editing of a file.

        None if its bytes are unavailable, changed since they were linted, or would not be written back unchanged.
        """
        content = file.content
        if content is None:
            try:
                with open(file.path, "rb") as stream:
                    content = stream.read()
            except OSError:
                return None
        decoded = decode(content)
        if decoded.text is None or decoded.text != source.shown:
            return None
        text = cls(file, source, content, decoded.encoding)
        return text if text._encoded(decoded.text) == content else None

    def _encoded(self, text: str) -> bytes | None:
        try:
            return self._mark + text.encode(self._codec)
        except (UnicodeEncodeError, LookupError):
            return None

    def takes(self, edit: Edit) -> bool:
        """Return whether an edit can be made: it meets no other, and in a program it stays within its string."""
        start, end = edit.span.start, edit.span.end
        if self._meets_another(start, end) or self._encoded(edit.text) is None:
            return False
        if self.source.original is None or start == len(self.source.shown):
            return True
        if edit.text.lstrip(" \t").startswith(f"{_sign(self.source)} pubcheck: "):
            return True  # a comment of the program's own, outside of its strings
        # In a view what is escaped, or filled in, is not what the file says; what is blank is the file's own.
        selected = self.source.text[start:end]
        if selected.strip() and selected != self.source.shown[start:end]:
            return False
        view = self.source.view
        return (view is not None and not view.quoted) or _PLAIN.fullmatch(edit.text) is not None

    def _meets_another(self, start: int, end: int) -> bool:
        """Return whether a span overlaps one that is replaced. Insertions may be next to each other and at its edge."""
        index = bisect_left(self._replaced, (start,))
        if index and self._replaced[index - 1][1] > start:
            return True
        if start == end:
            return False
        if index < len(self._replaced) and self._replaced[index][0] < end:
            return True
        index = bisect_right(self._inserted, start)
        return index < len(self._inserted) and self._inserted[index] < end

    def take(self, edit: Edit) -> None:
        key = (edit.span.start, edit.span.end, edit.text)
        if key in self._taken:
            return  # what two fixes both need
        self._taken.add(key)
        self.edits.append(edit)
        if edit.span.start < edit.span.end:
            insort(self._replaced, (edit.span.start, edit.span.end))
        else:
            insort(self._inserted, edit.span.start)

    def content(self) -> bytes:
        """Return the bytes with all edits."""
        text, copied_to = self.source.shown, 0
        pieces: list[str] = []
        for edit in sorted(self.edits, key=lambda edit: (edit.span.start, edit.span.end)):
            new = re.sub(r"\r\n?|\n", self._newline, edit.text)
            pieces += (text[copied_to : edit.span.start], new)
            copied_to = edit.span.end
        return self._encoded("".join([*pieces, text[copied_to:]])) or b""


# --- Comments that ignore -----------------------------------------------------------------------------------------


def comments_for(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """Yield, for each statement and file, the edit that ignores its findings in a comment."""
    places: dict[tuple[int, int, int], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        source, statement = diagnostic.span.source, diagnostic.statement
        if diagnostic.rule in (UNUSED, UNCLEAR) or not source.shown:
            continue
        if statement is None:
            if _sign(source):
                places.setdefault((id(source), -1, 0), []).append(diagnostic)
        elif statement.source is source:
            places.setdefault((id(source), statement.index, statement.start), []).append(diagnostic)
    comments_by_source: dict[int, dict[int, Comment]] = {}
    for (_, _, start), group in places.items():
        source = group[0].span.source
        codes = sorted({diagnostic.rule for diagnostic in group})
        statement = group[0].statement
        if statement is None:
            edit: Edit | None = _at_the_end(source, codes)
        else:
            if id(source) not in comments_by_source:
                comments_by_source[id(source)] = {
                    comment.end: comment
                    for comment in comments(source)
                    if isinstance(comment, Comment) and not comment.file
                }
            edit = _extended(source, comments_by_source[id(source)], start, codes) or _before(source, start, codes)
        if edit is not None:
            for diagnostic in group:
                yield diagnostic.rule, (edit,)


def _is_sql(source: Source) -> bool:
    return source.original is None or source.label.lower().endswith(SUFFIXES)


def _extended(
    source: Source, comments_by_end: Mapping[int, Comment], start: int, codes: Collection[str]
) -> Edit | None:
    """Return the edit that adds codes to the comment before a statement. The comments are found by their ends."""
    end = start
    while end > 0 and source.shown[end - 1] in " \t\r\n":
        end -= 1
    comment = comments_by_end.get(end)
    if comment is None or not comment.codes:
        return None
    added = [code for code in codes if code not in {known.text for known in comment.codes}]
    offset = comment.codes[-1].end
    return Edit(Span(source, offset, offset), "".join(f", {code}" for code in added))


def _before(source: Source, start: int, codes: Collection[str]) -> Edit | None:
    """Return the edit that adds a comment: a line above the statement, or before it if it shares its line.

    A comment on a call of a program is one of the program's language. None if that is not possible.
    """
    text = source.shown
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    before = text[line:start]
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    calls = source.view.calls if source.view is not None else ()
    is_call = any(call.start <= start < call.end for call in calls)
    if is_call:
        others = any(call.start < start and call.end > line for call in calls)
        has_line = not others and not text[:line].rstrip("\r\n").endswith("\\")
    else:
        has_line = _is_sql(source) and indent == before
    sign = _sign(source)
    if has_line and sign:
        return Edit(Span(source, line, line), f"{indent}{sign} pubcheck: ignore[{', '.join(codes)}]\n")
    if is_call and sign == "#":  # such languages have no comments within a line
        return None
    return Edit(Span(source, start, start), f"/* pubcheck:ignore[{','.join(codes)}] */ ")


def _at_the_end(source: Source, codes: Collection[str]) -> Edit:
    text = source.shown
    newline = "" if not text or text.endswith(("\n", "\r")) else "\n"
    end, sign = len(text), _sign(source)
    closing = " -->" if sign == "<!--" else ""
    return Edit(Span(source, end, end), f"{newline}{sign} pubcheck: ignore-file[{', '.join(codes)}]{closing}\n")


_SIGNS = {
    **dict.fromkeys(("python", "ruby", "shell", "make", "elixir", "yaml"), "#"),
    **dict.fromkeys(("javascript", "go", "java", "csharp", "rust", "php", "prisma"), "//"),
    "xml": "<!--",
}
"""The characters that begin a comment at the end of a line, by the view of a program."""


def _sign(source: Source) -> str:
    return "--" if _is_sql(source) else _SIGNS.get(view_of(source.label), "")
