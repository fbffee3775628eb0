"""What of a unit's diagnostics is reported, and how severe it is: comments in the files, ignores by file, severities.

A comment `-- pubcheck: ignore[PUB301] why` on a statement (before it, in it, or after it on its last line) takes the
statement's diagnostics of that rule away, `ignore[PUB3,PUB604]` those of several, `ignore` all of them, and
`ignore-file[...]` those of the whole file. In files of other languages the comment may be one of theirs. A comment that
takes nothing away, or is not understood, is reported itself.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.config import Config, suggestion
from pubcheck.diagnostics import SEVERITIES, Diagnostic, Edit, Fix, Severity, Span
from pubcheck.engine.unit_run import may_hold_comments
from pubcheck.source import Source

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.statement_index import Statements

UNUSED, UNCLEAR = "PUB011", "PUB012"

_IN_SQL = r"--+|/\*+"
_ELSEWHERE = rf"{_IN_SQL}|\#+|//+|<!--+|%+"
_COMMENT = r"(?P<sign>{signs})[ \t]*+pubcheck:[ \t]*+(?P<rest>[^\n\r]*+)"
_VERB = re.compile(r"(?P<verb>[\w-]*)(?:[ \t]*\[(?P<codes>[^\]]*)(?P<closed>\]?))?(?P<reason>.*)", re.DOTALL)
_CODE = re.compile(r"[^\s,]+")
_LIKE_A_CODE = re.compile(r"[\s:=(]*PUB\d", re.IGNORECASE)
_ENDS = {"/*": "*/", "<!--": "-->"}
_CLOSING = re.compile(r"[\s\"'`)\]},;.]*")


class Code(Struct, frozen=True):
    """A code in a comment, or the beginning of one, and where it stands."""

    text: str
    start: int
    end: int


class Comment(Struct, frozen=True):
    """An ignore comment: from its sign (`--`) to its end. ``codes`` None stands for all; ``inner`` is where they stand
    between the brackets. ``file``: it is about the whole file."""

    start: int
    end: int
    file: bool
    codes: tuple[Code, ...] | None
    inner: tuple[int, int] = (0, 0)


class Unclear(Struct, frozen=True):
    """A comment, or a code in one, that is not understood, and why."""

    start: int
    end: int
    message: str
    help: str


def comments(source: Source) -> Iterator[Comment | Unclear]:
    """The ignore comments of a source, in the order of the text, and what in them is not understood."""
    text = source.shown
    if not may_hold_comments(text):
        return
    signs = _IN_SQL if source.original is None else _ELSEWHERE
    pattern, end = re.compile(_COMMENT.format(signs=signs), re.IGNORECASE), 0
    while (found := pattern.search(text, end)) is not None:
        rest, begin = found["rest"], found.start("rest")
        sign = found["sign"]
        closing = _ENDS.get(sign[:2]) or _ENDS.get(sign[:4])
        if closing is not None and closing in rest:
            rest = rest[: rest.index(closing)]
            end = begin + len(rest) + len(closing)
        else:
            end = begin + len(rest.rstrip())
        yield from _read(found.start(), end, rest, begin)


def _read(start: int, end: int, rest: str, begin: int) -> Iterator[Comment | Unclear]:
    """One comment; ``rest`` is what it says after the mark, from the offset ``begin``."""
    given = _VERB.match(rest)
    assert given is not None  # all of it is optional
    verb, written = given["verb"].lower(), given["codes"]
    usage = "write `pubcheck: ignore[PUB301] why`, or `ignore-file[PUB301]` for the whole file"
    if verb not in ("ignore", "ignore-file"):
        hint = suggestion(verb, ("ignore", "ignore-file")) if verb else ""
        if "; there are" in hint:
            hint = ""
        yield Unclear(start, end, f"this comment is not understood{hint}", usage)
    elif written is None and _LIKE_A_CODE.match(given["reason"]):
        code = given["reason"].strip(" \t:=(").split()[0].rstrip(",)")
        yield Unclear(start, end, "this comment names a rule outside of brackets", f"write `{verb}[{code}]`")
    elif written is None:
        yield Comment(start, end, verb == "ignore-file", None)
    elif not given["closed"]:
        yield Unclear(start, end, "the list of codes in this comment is not closed", usage)
    elif not written.strip(", \t"):
        yield Unclear(start, end, "this comment names no rule", f"{usage}; `{verb}` alone ignores every rule")
    else:
        at = begin + given.start("codes")
        known = []
        for each in _CODE.finditer(written):
            code = Code(each[0].upper(), at + each.start(), at + each.end())
            if rulebook.is_selector(code.text):
                known.append(code)
                continue
            rule = rulebook.find(each[0])
            near = f"; ignore by code: {rule.code}" if rule else suggestion(code.text, rulebook.RULES)
            if near.startswith("; there are"):
                near = ""
            yield Unclear(
                code.start, code.end, f"no rule has the code {each[0]}{near}", "`pubcheck rules` lists all rules"
            )
        if known:
            inner = (at, at + len(written))
            yield Comment(start, end, verb == "ignore-file", tuple(known), inner)


# --- Comments and diagnostics -------------------------------------------------------------------------------------


class _File:
    """The ignore comments of a source and what they were good for."""

    def __init__(self, source: Source, bounds: tuple[Sequence[int], Sequence[int]]) -> None:
        self.source = source
        self.comments: list[Comment] = []
        self.unclear: list[Unclear] = []
        self.used: set[tuple[int, str]] = set()
        """By the start of the comment, the code (or "" for all) that took something away."""
        self._starts, self._ends = bounds
        self._of_file: list[Comment] = []
        self._of_statement: dict[int, list[Comment]] = {}
        for found in comments(source):
            if isinstance(found, Unclear):
                self.unclear.append(found)
                continue
            self.comments.append(found)
            if found.file:
                self._of_file.append(found)
            else:
                for target in self._targets(found):
                    self._of_statement.setdefault(target, []).append(found)

    def _targets(self, comment: Comment) -> Iterator[int]:
        """The index of the statement that a comment is on: the one around it, else one that begins after it on its
        line, else one that ends before it on its line, else the next."""
        text = self.source.shown
        before = bisect_right(self._starts, comment.start) - 1
        if before >= 0:
            end = self._ends[before]
            followed = before + 1 < len(self._starts) and not _has_line_end(
                text[comment.end : self._starts[before + 1]]
            )
            if comment.start < end or not (followed or self._apart(end, comment.start)):
                yield before
                return
        if before + 1 < len(self._starts):
            yield before + 1

    def _apart(self, end: int, start: int) -> bool:
        """Whether a comment is not on the line of the statement that ends before it. In a program the quotes and
        parentheses around the statement may close on a later line."""
        between = self.source.shown[end:start]
        if not _has_line_end(between):
            return False
        last = re.split(r"[\n\r]", between)[-1]
        return self.source.original is None or not last.strip() or _CLOSING.fullmatch(between) is None

    def takes(self, diagnostic: Diagnostic) -> bool:
        """Whether a comment takes a diagnostic of this source away; all of those that do are used then."""
        taken = False
        for comment in self._about(diagnostic):
            if comment.codes is None:
                self.used.add((comment.start, ""))
                taken = True
                continue
            for code in comment.codes:
                if diagnostic.rule.startswith(code.text):
                    self.used.add((comment.start, code.text))
                    taken = True
        return taken

    def names(self, code: str) -> bool:
        """Whether a comment about the whole file names a rule outright."""
        return any(each.text == code for comment in self._of_file for each in comment.codes or ())

    def _about(self, diagnostic: Diagnostic) -> Iterator[Comment]:
        yield from self._of_file
        statement = diagnostic.statement
        if statement is None or statement.source is not self.source:
            return
        for comment in self._of_statement.get(statement.index, ()):
            outside = not self._starts[statement.index] <= comment.start < self._ends[statement.index]
            if outside or not statement.embedded or self._beside(comment, statement.start):
                yield comment

    def _beside(self, comment: Comment, start: int) -> bool:
        """Whether a comment within a statement is on the one that begins at ``start`` within it."""
        text = self.source.shown
        if comment.start < start:
            return not _without_comments(text[comment.end : start]).strip()
        return re.fullmatch(r"[^;]*(?:;[^\n\r;]*)?", text[start : comment.start]) is not None

    def unused(self, reported: Collection[str], majors: Collection[int]) -> Iterator[tuple[Comment, tuple[Code, ...]]]:
        """Comments that took nothing away, and of others the codes that did not. A code is only unused where a rule
        that it names could have spoken."""
        for comment in self.comments:
            if comment.codes is None:
                if (comment.start, "") not in self.used:
                    yield comment, ()
                continue
            idle = tuple(
                code
                for code in comment.codes
                if (comment.start, code.text) not in self.used and _could_speak(code.text, reported, majors)
            )
            if idle:
                yield comment, idle


def _has_line_end(text: str) -> bool:
    return "\n" in text or "\r" in text


def _without_comments(text: str) -> str:
    return re.sub(r"--[^\n\r]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def _could_speak(selector: str, reported: Collection[str], majors: Collection[int]) -> bool:
    rules = (rule for code, rule in rulebook.RULES.items() if code.startswith(selector) and code in reported)
    return any(rule.code != UNUSED and not set(rule.postgres).isdisjoint(majors) for rule in rules)


def apply_suppressions(
    diagnostics: Iterable[Diagnostic],
    sources: Sequence[Source],
    statements: Statements,
    config: Config,
    majors: tuple[int, ...],
) -> list[Diagnostic]:
    """What is reported of what the selected rules say of a unit, unordered, with the severities of the configuration;
    diagnostics about comments come on top. ``statements`` are those of ``sources``, by number."""
    found = list(diagnostics)
    files = {
        id(source): _File(source, statements.bounds(number))
        for number, source in enumerate(sources)
        if may_hold_comments(source.shown)
    }
    if files:
        reported = rulebook.selected(config.select, config.ignore, config.extend_select)
        found = [each for each in found if not _taken(each, files)]
        for file in files.values():
            about = (each for each in _about_comments(file, reported, majors) if each.rule in reported)
            found += [each for each in about if not file.names(each.rule)]
    return list(apply_config(found, config))


def _taken(diagnostic: Diagnostic, files: dict[int, _File]) -> bool:
    file = files.get(id(diagnostic.span.source))
    return file is not None and file.takes(diagnostic)


def _about_comments(file: _File, reported: Collection[str], majors: tuple[int, ...]) -> Iterator[Diagnostic]:
    for unclear in file.unclear:
        span = Span(file.source, unclear.start, unclear.end)
        yield rulebook.remark(UNCLEAR, unclear.message, span, majors, unclear.help)
    for comment, idle in file.unused(reported, majors):
        where = "this file" if comment.file else "the statement"
        whole = comment.codes is None or len(idle) == len(comment.codes)
        start, end = (comment.start, comment.end) if whole else (idle[0].start, idle[-1].end)
        what = ", ".join(code.text for code in idle)
        yield rulebook.remark(
            UNUSED,
            f"there is nothing to ignore in {where}" if not what else f"there is no {what} to ignore in {where}",
            Span(file.source, start, end),
            majors,
            "remove the comment" if whole else f"remove {what} from the comment",
            _removal(file.source, comment) if whole else _shortening(file.source, comment, idle),
        )


def _removal(source: Source, comment: Comment) -> Fix:
    """Without the comment, and without its line where nothing else stands there."""
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


def _shortening(source: Source, comment: Comment, idle: Collection[Code]) -> Fix:
    kept = [source.shown[code.start : code.end] for code in comment.codes or () if code not in idle]
    title = f"remove {', '.join(code.text for code in idle)} from the comment"
    return Fix(title, "safe", (Edit(Span(source, *comment.inner), ", ".join(kept)),))


# --- The configuration's say --------------------------------------------------------------------------------------


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
