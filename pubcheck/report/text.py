"""Findings for people, in the manner of rustc and ruff: a headline, the place with its lines, the server's answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from msgspec import UNSET, Struct

from pubcheck.diagnostics import ConsumerClaim, RefusedWriteText, ServerAnswer, Severity
from pubcheck.findings import Entry, Finding, Line, Report
from pubcheck.report import count
from pubcheck.report.statistics import by_statement, causes, headline, is_cause, message, objects_of
from pubcheck.source import escape

TAB = 4
"""Columns of a tab stop."""

NAMED = 3
"""Objects that a group names before it counts the rest; and notes of a rule in a file where there are too many."""

MANY = 10
"""Notes of a rule in a file that are shown one by one."""


class Palette(Struct, frozen=True):
    """The escape sequences that begin each kind of text; ``reset`` ends it. All are empty without colour."""

    error: str = ""
    warning: str = ""
    note: str = ""
    bold: str = ""
    frame: str = ""
    related: str = ""
    reset: str = ""

    def of(self, severity: Severity) -> str:
        return {"error": self.error, "warning": self.warning, "note": self.note}[severity]

    def kind(self, entry: Entry) -> str:
        """Return the severity and the rule of a finding; a terminal opens the rule's page by its code."""
        code = entry.rule
        if entry.url and self.reset:
            code = f"\x1b]8;;{entry.url}\x1b\\{code}\x1b]8;;\x1b\\"
        return f"{self.of(entry.severity)}{entry.severity}[{code}]"


PLAIN = Palette()
_COLOR = Palette(
    error="\x1b[1;31m",
    warning="\x1b[1;33m",
    note="\x1b[1;36m",
    bold="\x1b[1m",
    frame="\x1b[1;34m",
    related="\x1b[1;34m",
    reset="\x1b[0m",
)


def render(report: Report, *, color: bool = False, quiet: bool = False, verbose: bool = False) -> Iterator[str]:
    """Return the report in pieces, one finding or group of findings each; ``quiet`` leaves out the closing line.

    ``verbose``: all notes, the answers to both UPDATE and DELETE, all remedies and fixes.
    """
    palette = _COLOR if color else PLAIN
    groups = _side_by_side(by_statement(report.findings))
    alike = Counter(_kind(group) for group in groups)
    shown_counts: Counter[tuple[str, str, str]] = Counter()
    for group in groups:
        path, rule, severity = kind = _kind(group)
        shown_counts[kind] += 1
        many = severity == "note" and alike[kind] > MANY and not verbose
        if many and shown_counts[kind] > NAMED:
            continue
        yield "\n".join([*_block(group, report.postgres, palette, verbose=verbose), "", ""])
        if many and shown_counts[kind] == NAMED:
            more = f"{alike[kind] - NAMED} more {rule} in {escape(path)}"
            yield f"{palette.note}note[{rule}]{palette.reset}: {more}; --format concise shows them all\n\n"
    if not quiet:
        yield summary(report) + "\n"


def _kind(group: list[Finding]) -> tuple[str, str, str]:
    entry = group[0].entry
    return entry.path, entry.rule, entry.severity


def summary(report: Report) -> str:
    """Return a sentence with the numbers of findings, statements and files."""
    among = f"{count(report.statements, report.noun, 'd')} of {count(report.files, report.container, 'd')}"
    majors = f"PostgreSQL {', '.join(map(str, report.postgres))}"
    if not report.findings:
        return f"Nothing found in {among} ({majors})."
    entries = [cause[0].entry for cause in causes(report.findings)]
    counts = []
    severities: tuple[Severity, ...] = ("error", "warning", "note")
    for severity in severities:
        certainties = [entry.certainty for entry in entries if entry.severity == severity]
        if certainties:
            assumed = f" ({certainties.count('assumed')} assumed)" if "assumed" in certainties else ""
            counts.append(count(len(certainties), severity, "d") + assumed)
    return f"Found {', '.join(counts)} in {among} ({majors})."


def _side_by_side(groups: list[list[Finding]]) -> list[list[Finding]]:
    """Return the groups that say why writes of one table are refused next to each other, in the server's order."""
    clusters: dict[object, list[list[Finding]]] = {}
    for number, group in enumerate(groups):
        first = group[0]
        key = (first.unit, first.entry.object) if is_cause(first.entry) else number
        clusters.setdefault(key, []).append(group)
    return [
        group
        for cluster in clusters.values()
        for group in sorted(cluster, key=lambda group: group[0].entry.after_count)
    ]


# --- One block ----------------------------------------------------------------------------------------------------


def _block(group: list[Finding], majors: tuple[int, ...], palette: Palette, *, verbose: bool) -> Iterator[str]:
    entry = group[0].entry
    bold, frame, reset = palette.bold, palette.frame, palette.reset
    assumed = " (assumed)" if entry.certainty == "assumed" else ""
    yield f"{palette.kind(entry)}{assumed}{reset}{bold}: {escape(headline(group))}{reset}"
    lines = _distinct(line for finding in group[:NAMED] for line in finding.lines)
    width = max((len(str(line.number)) for line in lines), default=1)
    gutter = " " * width
    yield f"{gutter}{frame}-->{reset} {escape(entry.place)}"
    yield from _excerpt(lines, entry.path, entry.severity, width, palette)
    for key, text in _notes(group, majors, verbose=verbose):
        first, *rest = text.split("\n")
        yield f"{gutter} {frame}={reset} {bold}{key}:{reset} {escape(first)}"
        for line in rest:
            yield f"{gutter}   {' ' * len(key)}  {escape(line)}"


def _notes(group: list[Finding], majors: tuple[int, ...], *, verbose: bool) -> Iterator[tuple[str, str]]:
    """Return the lines below the excerpt: a key and a text of one or more lines."""
    entry = group[0].entry
    objects = objects_of(group)
    if len(objects) > 1:
        listed = ", ".join(objects[:NAMED])
        unlisted = len(objects) - NAMED
        yield f"{len(objects)} tables", f"{listed} and {unlisted} more" if unlisted > 0 else listed
    for related in entry.related:
        if related.database_object is not UNSET and related.message:
            yield "related", f"{related.database_object}: {related.message}"
    if entry.after_count:
        yield "after", _earlier(entry)
    short = group[0].write is not None and not verbose
    for text in _answers(group, answer_line if short else answer)[: None if verbose else 1]:
        yield "server", text
    for notice in entry.notices:
        yield "notice", notice
    if entry.consumer is not UNSET:
        yield from _claim(entry.consumer)
    publications = list(dict.fromkeys(name for finding in group for name in finding.entry.publications))
    if len(publications) > 1:
        every = len(publications) <= NAMED or not is_cause(entry)
        more = "" if every else f" and {len(publications) - NAMED} more"
        yield "publications", ", ".join(publications if every else publications[:NAMED]) + more
    if entry.postgres and entry.postgres != majors:
        yield "postgres", ", ".join(map(str, entry.postgres))
    if entry.assumptions:
        yield "rests on", "; ".join(entry.assumptions)
    if entry.help:
        write = group[0].write
        yield "help", entry.help if verbose or write is None else _short_help(write)
    several = len(objects) > 1 or (len(publications) > 1 and is_cause(entry))
    if several and len({finding.entry.fixes for finding in group}) > 1:
        yield "fix", "one for each of them"
        return
    for fix in entry.fixes:
        if not verbose and group[0].write is not None and group[0].write.applied == 0:
            continue  # the best remedy of the help is the fix
        yield "fix", fix.title if fix.applicability == "safe" else f"{fix.title} ({fix.applicability})"


def _short_help(write: RefusedWriteText) -> str:
    """Return the first remedy of a help, and how many there are more; the headline says what has to be changed."""
    if len(write.remedies) < 2:
        return write.help
    return f"{write.remedies[0].statements}  ({len(write.remedies) - 1} more with --verbose)"


def _claim(claim: ConsumerClaim) -> Iterator[tuple[str, str]]:
    """Return the consumer's own answer, and the claim with its evidence and source."""
    if claim.message:
        yield claim.consumer, claim.message
    inferred = ", inferred" if claim.inferred else ""
    yield "claim", f"{claim.claim} ({claim.evidence}{inferred}): {claim.says}"
    yield "source", claim.source


def _earlier(entry: Entry) -> str:
    """Return the causes that the server meets before this one."""
    named = [f'publication "{earlier.publication}" ({earlier.rule})' for earlier in entry.after[:NAMED]]
    rest = entry.after_count - len(named)
    text = ", ".join(named) + (f" and {rest} more" if rest else "")
    causes_are = "an earlier cause is" if entry.after_count == 1 else f"{entry.after_count} earlier causes are"
    return f"PostgreSQL gives this answer once {causes_are} gone: {text}"


def _answers(group: list[Finding], text: Callable[[ServerAnswer], str]) -> list[str]:
    """Return the texts of the server's answers: for the group's first table, once for each operation."""
    first: dict[object, ServerAnswer] = {}
    for finding in group:
        if finding.entry.server and finding.entry.object == group[0].entry.object:
            first.setdefault(finding.entry.operation, finding.entry.server)
    return list(dict.fromkeys(map(text, first.values())))


def answer_line(error: ServerAnswer) -> str:
    return f"ERROR {error.sqlstate}: {error.message}"


def answer(error: ServerAnswer) -> str:
    """Return an ERROR as psql shows it: message, detail and hint, a line each."""
    lines = [answer_line(error)]
    lines += [f"DETAIL: {error.detail}"] if error.detail else []
    lines += [f"HINT: {error.hint}"] if error.hint else []
    return "\n".join(lines)


# --- The excerpt --------------------------------------------------------------------------------------------------


def _distinct(lines: Iterable[Line]) -> list[Line]:
    """Lines once each, a place that is both primary and related as the primary one."""
    chosen: dict[tuple[object, ...], Line] = {}
    for line in lines:
        key = (line.path, line.number, line.start, line.end, line.text)
        known = chosen.get(key)
        if known is None or (line.primary and not known.primary):
            chosen[key] = line
    return list(chosen.values())


def _excerpt(lines: list[Line], path: str, severity: Severity, width: int, palette: Palette) -> Iterator[str]:
    """Return the lines with their marks: those of the primary place's file first, then the other files in turn."""
    frame, reset = palette.frame, palette.reset
    gutter = " " * width
    for file_number, file in enumerate(dict.fromkeys([path, *(line.path for line in lines)])):
        numbered: dict[int, list[Line]] = {}
        for line in sorted((line for line in lines if line.path == file), key=lambda line: (line.number, line.start)):
            numbered.setdefault(line.number, []).append(line)
        if not numbered:
            continue
        if file_number:
            first = next(iter(numbered.values()))[0]
            yield f"{gutter}{frame}:::{reset} {escape(file)}:{first.number}"
        yield f"{gutter} {frame}|{reset}"
        last = None
        for number, marks in numbered.items():
            if last is not None and number > last + 1:
                yield f"{frame}...{reset}"
            last = number
            # The same line may be cut differently for two marks; then it is shown once for each cut.
            cuts: dict[str, list[Line]] = {}
            for mark in marks:
                cuts.setdefault(mark.text, []).append(mark)
            for text, under in cuts.items():
                yield f"{frame}{number:>{width}} |{reset} {_display(text)}".rstrip()
                for mark in under:
                    yield f"{gutter} {frame}|{reset} {_mark(mark, severity, palette)}"


def _mark(mark: Line, severity: Severity, palette: Palette) -> str:
    color = palette.of(severity) if mark.primary else palette.related
    before = len_display(mark.text[: mark.start])
    length = max(1, len_display(mark.text[: mark.end]) - before)
    message = f" {escape(mark.message)}" if mark.message else ""
    return f"{' ' * before}{color}{('^' if mark.primary else '-') * length}{message}{palette.reset}"


def _display(text: str) -> str:
    """Return a source line as shown: tabs as blanks up to the next stop, what a terminal would obey escaped."""
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    column = 0
    for char in text:
        if char == "\t":
            piece = " " * (TAB - column % TAB)
        else:
            piece = escape(char)
        shown.append(piece)
        column += _columns(piece)
    return "".join(shown)


def len_display(text: str) -> int:
    """Return the columns that a source line, or its beginning, takes on a terminal."""
    return _columns(_display(text))


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(
        0 if category(char) in ("Mn", "Me", "Cf") else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


# One finding a line, for people and editors: `path:line:column: severity[code]: message`.


def render_concise(report: Report, *, color: bool = False, quiet: bool = False) -> Iterator[str]:
    """Return the report in pieces, one finding each; ``quiet`` leaves out the closing line."""
    palette = _COLOR if color else PLAIN
    for cause in causes(report.findings):
        entry = cause[0].entry
        place = f"{palette.bold}{escape(entry.path)}{palette.reset}{escape(entry.place.removeprefix(entry.path))}"
        assumed = " (assumed)" if entry.certainty == "assumed" else ""
        kind = f"{palette.kind(entry)}{palette.reset}{assumed}"
        yield f"{place}: {kind}: {escape(message(cause))}\n"
    if not quiet:
        yield summary(report) + "\n"


# The text of a finding in formats that have one field for text.


def paragraphs(entry: Entry) -> Iterator[str]:
    """Return the paragraphs below a finding's message: the server's answer, the claim about a
    consumer, the certainty, the help. Each may have
    several lines."""
    if entry.server is not None:
        yield answer(entry.server)
    if entry.consumer is not UNSET:
        claim = entry.consumer
        if claim.message:
            yield f"{claim.consumer}: {claim.message}"
        yield f"Claim {claim.claim} ({claim.evidence}{', inferred' if claim.inferred else ''}), {claim.source}"
    if entry.certainty == "assumed":
        yield f"Assumed: it rests on {'; '.join(entry.assumptions)}." if entry.assumptions else "Assumed."
    if entry.help:
        yield f"Help: {entry.help}"


def described(entry: Entry) -> str:
    """Return the message and all that is to be read below it."""
    listed = "" if entry.database_object is UNSET else f"{entry.database_object}: "
    return "\n".join([listed + entry.message, *paragraphs(entry)])
