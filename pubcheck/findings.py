"""Diagnostics as a report shows them: places as lines and columns, with the lines of text that an excerpt needs.

The records hold no source, so a run over many units keeps only its findings. The fields, their
names and their order are those of the JSON document (`schema.json`); msgspec writes them as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import UNSET, Struct, UnsetType

from pubcheck.diagnostics import (
    Applicability,
    Assumption,
    Certainty,
    ConsumerClaim,
    Diagnostic,
    Earlier,
    Edit,
    Fix,
    Operation,
    Phase,
    RefusedWriteText,
    ServerAnswer,
    Severity,
    Span,
    StatementRef,
)
from pubcheck.rulebook import ADDRESS
from pubcheck.source import LineIndex, Source
from pubcheck.words import words

SCHEMA_VERSION = 1


class Related(Struct, frozen=True):
    """Another place that a finding speaks of; 1-based, columns in code points, the end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    database_object: str | UnsetType = UNSET
    live: bool | UnsetType = UNSET


class Statement(Struct, frozen=True):
    """A statement of a file: its number, counted from 0, and the line of its first token."""

    index: int
    line: int
    embedded: tuple[int, ...] | UnsetType = UNSET


class EditEntry(Struct, frozen=True):
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FixEntry(Struct, frozen=True):
    title: str
    applicability: Applicability
    edits: tuple[EditEntry, ...]


class StreamPlace(Struct, frozen=True):
    """The message of a captured stream that a finding is about: its number from 1, the name of its format, the position
    and transaction that the slot gave with it, and the byte of a malformed message at which the fault is."""

    message: int
    kind: str | None
    lsn: str | None
    xid: int | None
    offset: int | None


class Entry(Struct, frozen=True):
    """One diagnostic of the JSON document."""

    rule: str
    name: str
    phase: Phase
    severity: Severity
    certainty: Certainty
    postgres: tuple[int, ...]
    message: str
    help: str | None
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    related: tuple[Related, ...]
    statement: Statement | None
    object: str | None
    publication: str | None
    publications: tuple[str, ...]
    operation: Operation | None
    server: ServerAnswer | None
    notices: tuple[str, ...]
    fixes: tuple[FixEntry, ...]
    url: str | None = None
    after: tuple[Earlier, ...] = ()
    after_count: int = 0
    assumptions: tuple[str, ...] = ()
    stream: StreamPlace | UnsetType = UNSET
    consumer: ConsumerClaim | UnsetType = UNSET
    database_object: str | UnsetType = UNSET
    """The object on the line, if ``path`` is a database or a snapshot of one."""
    live: bool | UnsetType = UNSET
    """Whether ``path`` is a database. The line is then that of the object in a snapshot of it."""

    @property
    def place(self) -> str:
        """The place as people read it."""
        if self.database_object is UNSET:
            return f"{self.path}:{self.line}:{self.column}"
        line = "" if self.live else f":{self.line}"
        return f"{self.path}{line}: {self.database_object}"


class Line(Struct, frozen=True):
    """A line of an excerpt, cut around its mark when it is very long: ``start`` and ``end`` of the mark count from the
    beginning of ``text``. ``first`` and ``last``: whether the mark begins and ends on this line."""

    path: str
    number: int
    text: str
    start: int
    end: int
    message: str
    primary: bool
    first: bool = True
    last: bool = True


class Finding(Struct, frozen=True):
    """An entry and the lines to show with it, those of the primary place first. ``unit`` is the number of its unit in
    the run, ``file`` that of its file in the unit; ``write`` has the parts of the texts of a refused write."""

    entry: Entry
    lines: tuple[Line, ...] = ()
    unit: int = 0
    file: int = 0
    write: RefusedWriteText | None = None

    @property
    def order(self) -> tuple[int, int, str, int, int, str]:
        entry = self.entry
        return (self.unit, self.file, entry.path, entry.line, entry.column, entry.rule)


class Report(Struct, frozen=True):
    """The findings of a run, in the order of the report, with the majors checked, files and statements.

    ``noun`` is what ``statements`` counts: those of ``verify`` are messages. ``container`` is what ``files`` counts."""

    findings: tuple[Finding, ...]
    postgres: tuple[int, ...]
    files: int
    statements: int
    noun: str = "statement"
    container: str = "file"


LONGEST_LINE = 160
"""Characters of a line that an excerpt shows; a longer line is cut around its mark."""

MOST_LINES = 6
"""Lines that an excerpt shows of one span: the first ones and the last."""


_AS_IN_THE_DIAGNOSTIC = words("""
    rule name phase severity certainty postgres message help object publication publications operation server notices
    after after_count
""")


class Resolver:
    """Turns the diagnostics of a unit into findings; keeps one line index for each source. ``docs_url`` is where the
    pages of the rules are published (``url_of``)."""

    def __init__(self, *, excerpts: bool = True, docs_url: str = "") -> None:
        self._excerpts, self._docs_url = excerpts, docs_url
        self._indexes: dict[int, tuple[Source, LineIndex]] = {}

    def findings(self, diagnostics: Iterable[Diagnostic]) -> list[Finding]:
        return [self._finding(diagnostic) for diagnostic in diagnostics]

    def line(self, span: Span) -> int:
        """Return the line on which a span begins."""
        return self._place(span)[0]

    def _finding(self, diagnostic: Diagnostic) -> Finding:
        line, column, end_line, end_column = self._place(diagnostic.span)
        entry = Entry(
            **{field: getattr(diagnostic, field) for field in _AS_IN_THE_DIAGNOSTIC},
            path=diagnostic.span.source.label,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            related=tuple(map(self._related, diagnostic.related)),
            statement=self._statement(diagnostic.statement) if diagnostic.statement else None,
            fixes=tuple(self._fix(fix) for fix in diagnostic.fixes),
            assumptions=tuple(map(self._assumption, diagnostic.assumptions)),
            url=url_of(self._docs_url, diagnostic.rule, diagnostic.name),
            consumer=diagnostic.claim or UNSET,
            database_object=self._object(diagnostic.span),
            live=_is_live(diagnostic.span),
        )
        if not self._excerpts:
            return Finding(entry, write=diagnostic.write)
        lines = self._lines(diagnostic.span, primary=True) if entry.database_object is UNSET else []
        for span in diagnostic.related:
            if span.source.listing is None:
                lines += self._lines(span, primary=False)
        return Finding(entry, tuple(lines), write=diagnostic.write)

    def _related(self, span: Span) -> Related:
        return Related(span.source.label, *self._place(span), span.message, self._object(span), _is_live(span))

    def _object(self, span: Span) -> str | UnsetType:
        listing = span.source.listing
        number = self._place(span)[0] - listing.first if listing is not None else -1
        return listing.objects[number].address if listing is not None and number >= 0 else UNSET

    def _assumption(self, assumption: Assumption) -> str:
        if isinstance(assumption, str):
            return assumption
        return f"{assumption.message} ({assumption.source.label}:{self.line(assumption)})"

    def _index(self, source: Source) -> LineIndex:
        known = self._indexes.get(id(source))
        if known is None:
            known = self._indexes[id(source)] = (source, LineIndex(source.text))  # the source keeps its id taken
        return known[1]

    def _place(self, span: Span) -> tuple[int, int, int, int]:
        locate = self._index(span.source).locate
        return (*locate(span.start), *locate(span.end))

    def _statement(self, reference: StatementRef) -> Statement | None:
        if reference.source.listing is not None:
            return None
        line, _ = self._index(reference.source).locate(reference.start)
        return Statement(reference.index, line, reference.embedded or UNSET)

    def _fix(self, fix: Fix) -> FixEntry:
        return FixEntry(fix.title, fix.applicability, tuple(self.edits(fix.edits)))

    def edits(self, edits: Iterable[Edit]) -> list[EditEntry]:
        return [EditEntry(edit.span.source.label, *self._place(edit.span), edit.text) for edit in edits]

    def _lines(self, span: Span, *, primary: bool) -> list[Line]:
        text, index = span.source.shown, self._index(span.source)
        if not text:
            return []
        first, _ = index.locate(span.start)
        last, column = index.locate(span.end)
        if last > first and column == 1:
            last -= 1  # a span that ends with a line end marks nothing of the next line
        numbers = list(range(first, min(last, first + MOST_LINES - 2) + 1))
        numbers += [last] if last > numbers[-1] else []
        lines = []
        for number in numbers:
            begin = index.start(number)
            end = index.start(number + 1) if number < len(index) else len(text)
            while end > begin and text[end - 1] in "\r\n":
                end -= 1
            start = min(span.start if number == first else _indent(text, begin, end), end)
            stop = max(min(span.end, end) if number == last else end, start)
            shown, start, stop = _cut(text, begin, end, start, stop)
            lines.append(
                Line(
                    path=span.source.label,
                    number=number,
                    text=shown,
                    start=start,
                    end=stop,
                    message=span.message if number == last else "",
                    primary=primary,
                    first=number == first,
                    last=number == last,
                )
            )
        return lines


def _is_live(span: Span) -> bool | UnsetType:
    listing = span.source.listing
    return True if listing is not None and listing.live else UNSET


def url_of(docs_url: str, code: str, name: str) -> str | None:
    """Return the address of a rule's page: ``docs_url`` with `{code}` and `{name}` replaced, or with the code after
    it. Without ``docs_url`` that of the project's own pages, if it publishes them."""
    docs_url = docs_url or ADDRESS
    if not docs_url:
        return None
    if "{" not in docs_url:
        return f"{docs_url.rstrip('/')}/{code}"
    return docs_url.replace("{code}", code).replace("{name}", name)


def _indent(text: str, begin: int, end: int) -> int:
    """Return the offset of a line's first character that is not blank."""
    while begin < end and text[begin] in " \t":
        begin += 1
    return begin


def _cut(text: str, begin: int, end: int, start: int, stop: int) -> tuple[str, int, int]:
    """Return the line ``begin``..``end`` of a text, cut to ``LONGEST_LINE`` characters that hold the beginning of its
    mark ``start``..``stop``, and the mark in it. Never copies a line that may be megabytes long."""
    if end - begin <= LONGEST_LINE:
        return text[begin:end], start - begin, stop - begin
    stop = min(stop, start + LONGEST_LINE * 2 // 3)
    left = max(begin, min(start - (LONGEST_LINE - (stop - start)) // 2, end - LONGEST_LINE))
    right = left + LONGEST_LINE
    head, tail = "…" if left > begin else "", "…" if right < end else ""
    return head + text[left:right] + tail, start - left + len(head), stop - left + len(head)


def report(findings: Iterable[Finding], postgres: Iterable[int], files: int, statements: int) -> Report:
    """Return a report of findings, which are put into the order of the run: that of the units, of the files of a unit,
    and of the places in a file."""
    ordered = sorted(findings, key=lambda finding: finding.order)
    return Report(tuple(_once_a_file(ordered)), tuple(sorted(set(postgres))), files, statements)


_ONCE = frozenset(("PUB004", "PUB005", "PUB106", "PUB107"))
"""Rules whose notes have one cause in a file, such as a schema that is created elsewhere, however often they hold."""

_POINTED_AT = 5
"""Further places that such a note points at."""


def _once_a_file(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Findings in which the notes of one file and cause are one, at the first place."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        entry = finding.entry
        if entry.severity == "note" and entry.rule in _ONCE:
            alike.setdefault((entry.path, entry.rule, entry.postgres, entry.help), []).append(finding)
    joined = {id(group[0]): _joined(group) for group in alike.values()}
    left_out = {id(finding) for group in alike.values() for finding in group[1:]}
    for finding in findings:
        if id(finding) not in left_out:
            yield joined.get(id(finding), finding)


def _joined(group: Sequence[Finding]) -> Finding:
    """Return one finding for several of a file with the same text."""
    first, rest = group[0], group[1:]
    if not rest:
        return first
    entry, shown = first.entry, rest[:_POINTED_AT]
    related = tuple(
        Related(
            shown_entry.path,
            shown_entry.line,
            shown_entry.column,
            shown_entry.end_line,
            shown_entry.end_column,
            shown_entry.message,
        )
        for shown_entry in (finding.entry for finding in shown)
    )
    more = f"{len(rest)} more statement{'s' if len(rest) > 1 else ''} of this file"
    message = f"{entry.message}; the same is true of {more}"
    lines = tuple(
        msgspec.structs.replace(line, primary=False) for finding in shown for line in finding.lines if line.primary
    )
    entry = msgspec.structs.replace(entry, message=message, related=entry.related + related)
    return Finding(entry, first.lines + lines)


encode = msgspec.json.Encoder().encode
"""A value of this module as the bytes of its JSON."""
