"""SQL in the strings of a program, of the same length as the program: which strings, joined how, saying what.

A string is SQL if it begins as a statement of DDL does. What a string
says is worked out (escapes, joined strings, something filled in for what is known at run time only), then written where
the string is, escapes behind blanks; the exact text that PostgreSQL receives is in the view's edits.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.extract.concatenation import Piece
from pubcheck.extract.frameworks import operations_of
from pubcheck.extract.masked_text import Canvas, joined
from pubcheck.extract.string_literals import BEFORE, LANGUAGES, Language, Literal, assigned_name, literals
from pubcheck.lexing.items import blank, filler, padded
from pubcheck.rulebook import finder
from pubcheck.source import Note, View

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.project import Project

MENTION = re.compile(r"(?ai:\b(?:create|alter|drop)(?:[\s\"'`+.\\<>]|\\[nrt]){1,60}(?:publication|subscription)\b)")
"""The start of a possible statement about a publication or a subscription."""

_SPACE = r"(?:\s|(?<=[ \t\n])\|(?!\|)|\\[nrt]|\\\n|--[^\n]*+\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)"
_OBJECTS = (
    "publication|table|subscription|schema|index|type|domain|view|sequence|extension|function|procedure|role|user|"
    "database|policy|trigger|operator|aggregate|rule|event|server|statistics|default"
)
_HEAD = re.compile(
    rf"{_SPACE}*+(?ai:(?:begin|start\s+transaction|commit){_SPACE}*+;{_SPACE}*+)?+"
    rf"(?ai:(?:create|alter|drop){_SPACE}++(?:\w++{_SPACE}++){{0,3}}?(?:{_OBJECTS})\b"
    rf"|do{_SPACE}++(?:language\s+\w+\s+)?\\?\$|set\s+(?:(?:local|session)\s+)?\w+(?:\.\w+)?\s*(?:=|to\b))"
)
_WITHIN = re.compile(rf";{_SPACE}*+(?ai:create|alter|drop){_SPACE}++(?ai:publication)\b")
_NAME = r'(?:"[^"]*+"|[^\s"();,\'.]+)'
_SHAPE = re.compile(
    rf"\s*(?ai:create\s+publication\s+(?:if\s+not\s+exists\s+)?(?P<created>{_NAME})\s*(?:$|for\b|with\b)"
    rf"|alter\s+publication\s+(?:if\s+exists\s+)?(?P<altered>{_NAME})\s+(?:add|drop|set|rename|owner)\b"
    rf"|drop\s+publication\s+(?:if\s+exists\s+)?{_NAME}(?:\s*,\s*{_NAME})*\s*(?:$|cascade|restrict)"
    rf"|create\s+subscription\s+(?:if\s+not\s+exists\s+)?{_NAME}\s+connection\b"
    rf"|alter\s+subscription\s+(?:if\s+exists\s+)?{_NAME}\s+"
    r"(?:connection|set|add|drop|refresh|enable|disable|skip|owner|rename)\b"
    rf"|drop\s+subscription\s+(?:if\s+exists\s+)?{_NAME}\s*(?:$|cascade|restrict))"
)
_ABOUT = re.compile(r"\s*(?ai:create|alter|drop)\s+(?:(?P<publication>(?ai:publication))|(?ai:subscription))\b")
# What follows the word in a sentence about publications, and is not a name that anyone gives to one.
_PROSE = re.compile(
    r"\s*\w+\s+publications?\s+(?:fail\w*|error\w*|statement\w*|command\w*|quer(?:y|ies)|syntax|is|are|was|were|has|had|"
    r"must|cannot|could|can|should|would|will|does|requires|succeeded|and|or|that|which|when|called|named|"
    r"on|for|with|without|in|from|to|as|by|using)\b",
    re.IGNORECASE,
)

_PLACEHOLDER = (
    r"%(?:\(\w+\)[a-zA-Z]|\[\d+\][a-zA-Z]|\d+\$[a-zA-Z]|\{\w+\}|<\w+>[a-zA-Z]|[sqvdIL](?!\w))|\?\?"
    r"|[$#]\{[^{}\n]*+\}|\$[A-Za-z_]\w*+(?!\$)"
)
_BRACES = r"\{\{[^{}\n]*+\}\}|\{[^{}\n]*+\}"
_IN_QUOTES = re.compile(rf"{_PLACEHOLDER}|\{{\{{[^{{}}\n]++\}}\}}|\{{[A-Za-z_0-9][\w.!:\[\]]*+\}}")
_TOKEN = re.compile(
    r"(?P<escaped>(?<!\w)[eE]'(?:[^'\\]++|\\.|'')*+'?)"
    r"|(?P<literal>'(?:[^']++|'')*+'?)"
    r'|(?P<name>"[^"]*+"?)'
    r"|(?P<dollar>(?<!\w)\$(?:[A-Za-z_]\w*+)?\$)"
    r"|(?P<comment>--[^\n]*+|/\*)"
    r"|(?P<paren>[()])|(?P<end>;)"
    rf"|(?P<placeholder>{_PLACEHOLDER}|{_BRACES})",
    re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")

# A call that runs the statement that it is given, up to that: `execute(`, `conn.execute(text(`, `tx.Exec(ctx, `.
_CALLS = (
    r"(?<![A-Za-z0-9])(?:(?:run|(?i:[a-z0-9_$]*(?:exec|execute|query|raw|sql|statement|unsafe|unprepared|batch)))"
    r"(?i:_?(?:sql|query|update|many|context|script|async|row|raw|reader|scalar|non_?query|unsafe|unprepared|batch)){0,3})"
    r"!?"
)
_ARGUMENTS = r"\s*\(\s*(?:\w+(?:\.\w+)*(?:\(\))?\s*,\s*)?(?:(?:sa\.|sqlalchemy\.)?text\(\s*)?"
_RUNS = re.compile(rf"{_CALLS}(?:{_ARGUMENTS}|[ \t]+|(?=`))\Z")
_RUNS_NAME = re.compile(rf"{_CALLS}(?:{_ARGUMENTS}|[ \t]+)(?P<name>[$@]{{0,2}}\w+)[ \t]*[,)\n;]")
_SHOWING = (
    "log|print|eprint|fprint|echo|puts|warn|err|error|raise|throw|panic|fatal|debug|info|expect|assert|equal|match|contain"
    "|regex|hint|help|message|msg|desc|doc|title|label|placeholder|example|usage|epilog|exception"
)
_SHOWS = re.compile(
    rf"(?:(?<![A-Za-z])(?i:{_SHOWING})|(?<=[a-z0-9])(?:{_SHOWING.title()})"
    r"|(?<!\w)(?:Console\.Write|(?:stdout|stderr)\.write))\w*[^\w\n(]{0,3}\(?\s*[rfbu]?\Z"
)
"""Calls that show or compare a text, up to the text: it is not a statement, whatever it says."""
_ELLIPSIS = re.compile(r"\.\.\.|\u2026")
_ENDS_CALL = re.compile(
    r"\s*(?:[,;]|\)++(?!\s*(?:\+|<>|\|\||\.\s*(?:join|concat|append|format|replace)\b)))|[ \t]*(?:\#[^\n]*)?(?:\n|\Z)"
)
_HEREDOC = re.compile(r"<<<?[~\-]?[ \t]*[\"']?\w+[\"']?[^\n]*\n\Z")


class Written(Struct):
    """The statements of some strings with names replaced by values; ``rendered`` is at ``start`` to ``end``."""

    start: int
    end: int
    rendered: str
    filled: list[tuple[int, int]]
    edits: list[tuple[int, int, str]]
    about: int = -1
    """The offset of the first statement about a publication or a subscription."""
    unseen: int = -1
    """The offset of text about a publication that cannot be evaluated."""
    sent: bool = False
    """Whether the program sends the text unchanged."""


def program(text: str, language: str, project: Project | None = None) -> View:
    """Return a program's statements. ``project``: what the migrations before it did."""
    # Loaded only for programs that are read: those that speak of publications, and the migrations around them.
    from pubcheck.extract.concatenation import constants
    from pubcheck.extract.program_migrations import cases, code_of, doubtful, names_in_calls, undone

    table = LANGUAGES[language]
    strings = list(literals(text, table))
    migration, down = undone(text, language, strings)
    code = code_of(text, language, strings, down)
    written, used = _statements(text, table, strings, down, code, constants(text, language, code, strings))
    unseen = [part.unseen for part in written if part.unseen >= 0] + _fragments(text, strings, used, down)
    view = assembled(text, written, unseen, in_order=migration)
    if migration:
        spans = doubtful(text, language, code, [strings[number] for number in sorted(used)])
        perhaps = [
            (statement.start, min(statement.end + 1, len(text)))
            for statement in written
            if spans is None or any(start <= statement.start < end for start, end in spans)
        ]
        view = replace(view, perhaps=tuple(perhaps))
    elif written:
        view = replace(view, cases=cases(text, language, strings))
    operations = operations_of(text, language, project) if migration else None
    if operations is not None:
        return replace(view, named=tuple(sorted(operations.doubted)), calls=tuple(operations.calls))
    calls = [string for number, string in enumerate(strings) if number not in used and not _inside(string.start, down)]
    return replace(view, named=names_in_calls(text, language, code, calls, view.text))


@finder("PUB009", "PUB010")
def assembled(text: str, written: Iterable[Written], unseen: Sequence[int], *, in_order: bool) -> View:
    """Return the view of what was found in a program. ``in_order``: it runs from the first statement to the last."""
    sheet = Canvas(text)
    filled: list[tuple[int, int]] = []
    edits: list[tuple[int, int, str]] = []
    about = -1
    for statement in sorted(written, key=lambda item: item.start):
        sheet.put(statement.start, statement.rendered)
        sheet.end_statement(statement.end)
        filled += statement.filled
        edits += statement.edits
        if statement.about >= 0 and about < 0:
            about = statement.about
    sent = tuple((part.start, part.end) for part in sorted(written, key=lambda item: item.start) if part.sent)
    notes = []
    if about >= 0 and not in_order:
        notes.append(
            Note(
                "PUB010",
                "this program's strings hold statements about publications; it is unknown when they run, "
                "and in which order",
                about,
                about + 1,
                "findings that depend on earlier statements are assumed",
            )
        )
    if unseen:
        first_unseen = min(unseen)
        more = f" (and {len(unseen) - 1} more in this file)" if len(unseen) > 1 else ""
        notes.append(
            Note(
                "PUB009",
                f"this mentions a publication, but the statement is built at run time{more}",
                first_unseen,
                first_unseen + 1,
                "its changes are not analysed",
            )
        )
    perhaps = () if in_order or not any(statement.rendered.strip() for statement in written) else ((0, len(text)),)
    return View(sheet.text(), joined(filled), perhaps, tuple(sorted(edits)), tuple(notes), quoted=True, sent=sent)


def begins_statement(text: str, start: int, end: int) -> bool:
    """Return whether the text begins as a DDL statement does, or holds a statement about a publication."""
    return _HEAD.match(text, start, end) is not None or _WITHIN.search(text, start, end) is not None


def _statements(
    text: str,
    language: Language,
    strings: Sequence[Literal],
    down: Sequence[tuple[int, int]],
    code: str,
    texts: Mapping[str, str],
) -> tuple[list[Written], set[int]]:
    """Return the SQL of the strings that contain it, and the numbers of those strings.

    ``code`` is the text without strings, ``texts`` the texts of names.
    """
    from pubcheck.extract.concatenation import chain, filled, formatted, growing_names

    written: list[Written] = []
    used: set[int] = set()
    growing = growing_names(code)
    run_names = frozenset(match["name"] for match in _RUNS_NAME.finditer(code))
    number = 0
    while number < len(strings):
        literal = strings[number]
        if _inside(literal.start, down):
            number += 1
            continue
        begin = _after_holes(text, literal)
        if not begins_statement(text, begin, literal.close):
            number += 1
            continue
        group = chain(text, growing, strings, number, begin, language)
        used.update(range(number, group.last + 1))
        last, parts = strings[group.last], group.pieces
        if texts:
            parts = formatted(text, filled(text, parts, texts), literal.start, last.end, texts)
        runs = not group.grows and _run(text, literal, last, run_names)
        if runs or not _is_shown(text, literal):
            written.append(worked_out(text, parts, group.end, runs=runs))
        number = group.last + 1
    return written, used


def _is_shown(text: str, literal: Literal) -> bool:
    return _SHOWS.search(text, max(0, literal.start - BEFORE), literal.start) is not None


def _run(text: str, first: Literal, last: Literal, names: frozenset[str]) -> bool:
    """Return whether a call runs the text between two strings as it is, itself or by one of ``names``."""
    before = text[max(0, first.start - BEFORE) : first.start]
    if first.heredoc:
        return _RUNS.search(_HEREDOC.sub("", before)) is not None
    if assigned_name(before) in names:
        return True
    return _RUNS.search(before) is not None and _ENDS_CALL.match(text, last.end) is not None


def _after_holes(text: str, literal: Literal) -> int:
    """Return the offset after leading placeholders on lines of their own, which may be other statements."""
    begin = literal.body
    for start, end in literal.holes:
        if text[begin:start].strip() or not _ALONE.match(text, end, literal.close):
            break
        begin = end
    return begin


_ALONE = re.compile(r"[ \t]*;?[ \t]*\r?\n")


def _inside(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    place = bisect_right(spans, (offset, 1 << 62)) - 1
    return place >= 0 and spans[place][0] <= offset < spans[place][1]


def worked_out(text: str, group: Sequence[Piece], end: int, *, runs: bool = False) -> Written:
    """Return the SQL of the pieces of concatenated strings, at their place.

    ``end`` is where the last one ends. ``runs``: they are known to be complete SQL.
    """
    if not group:
        return Written(end, end, "", [], [])
    parts = [filler(text[part.start : part.end]) if part.hole else part.value for part in group]
    starts, length = [], 0
    for part in parts:
        starts.append(length)
        length += len(part)
    value = "".join(parts)

    def place(offset: int) -> int:
        number = bisect_right(starts, offset) - 1
        while number and not parts[number]:
            number -= 1
        piece, within = group[number], offset - starts[number]
        if piece.exact or piece.hole:
            return piece.start + within
        return piece.start if within == 0 else piece.end

    lexed = _lexed(value)
    written = Written(group[0].start, end, "", [], [])
    for piece in group:
        if piece.hole:
            written.filled.append((piece.start, piece.end))
    written.filled += [(place(start), place(stop - 1) + 1) for start, stop in lexed.placeholders]
    holes = [(starts[number], starts[number] + len(parts[number])) for number, part in enumerate(group) if part.hole]
    sql = _classified(lexed, written, [*holes, *lexed.placeholders], place, runs=runs)

    rendered: list[str] = []
    for number, piece in enumerate(group):
        sent = sql[starts[number] : starts[number] + len(parts[number])]
        if piece.exact or piece.hole:
            rendered.append(sent)
            continue
        stood = text[piece.start : piece.end]
        squeezed = "".join(sent.split())
        # A value may be longer than its name: only its place counts here.
        rendered.append(padded(stood, squeezed) if len(squeezed) <= len(stood) else filler(stood))
        if written.edits and written.edits[-1][1] == piece.start:
            start, _, before = written.edits[-1]
            written.edits[-1] = (start, piece.end, before + sent)
        else:
            written.edits.append((piece.start, piece.end, sent))
    written.rendered = "".join(rendered)
    return written


class _Lexed(Struct):
    """``sql``: with a name for each placeholder and blanks for comments. ``ends``: the offsets of semicolons between
    statements. ``whole``: whether every quote and parenthesis is closed."""

    sql: str
    ends: list[int]
    placeholders: list[tuple[int, int]]
    whole: bool


def _lexed(sql: str) -> _Lexed:
    out: list[str] = []
    ends: list[int] = []
    placeholders: list[tuple[int, int]] = []
    position = depth = 0
    whole = True
    while True:
        match = _TOKEN.search(sql, position)
        if match is None:
            break
        out.append(sql[position : match.start()])
        kind, token, end = match.lastgroup, match[0], match.end()
        if kind == "dollar":
            closed = sql.find(token, end)
            if closed < 0:
                whole = False
                closed = len(sql)
            end = min(closed + len(token), len(sql))
            out.append(sql[match.start() : end])
        elif kind == "comment":
            if token == "/*":
                end = _comment_end(sql, match.start())
            out.append(blank(sql[match.start() : end]))
        elif kind == "placeholder":
            placeholders.append(match.span())
            out.append(filler(token))
        else:
            if kind in ("literal", "escaped", "name"):
                quote = '"' if kind == "name" else "'"
                if len(token) - (kind == "escaped") < 2 or not token.endswith(quote):
                    whole = False
                placeholders += [placeholder.span() for placeholder in _IN_QUOTES.finditer(sql, match.start(), end)]
            elif kind == "paren":
                depth = depth + 1 if token == "(" else max(0, depth - 1)
            elif depth == 0:
                ends.append(match.start())
            out.append(token)
        position = end
    out.append(sql[position:])
    return _Lexed("".join(out), ends, placeholders, whole and depth == 0)


def _comment_end(sql: str, start: int) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(sql, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)


def _classified(
    lexed: _Lexed,
    written: Written,
    unknown: Sequence[tuple[int, int]],
    place: Callable[[int], int],
    *,
    runs: bool,
) -> str:
    """Return the text without what only begins like a statement about a publication or a subscription, and without the
    rest of what has no end, unless it is known that nothing follows at run time."""
    sql = lexed.sql
    ended = runs or sql.rstrip().endswith(";")
    out: list[str] = []
    start = 0
    for number, end in enumerate([*lexed.ends, len(sql)]):
        chunk = sql[start:end]
        last = number == len(lexed.ends)
        touched = any(a < end and b > start for a, b in unknown)
        about = _ABOUT.match(chunk)
        broken = last and not lexed.whole
        prose = not runs and (_PROSE.match(chunk) is not None or _ELLIPSIS.search(chunk) is not None)
        shaped = not prose and ((runs and not touched) or _SHAPE.match(chunk) is not None)
        whole = ended and not touched
        written.sent = written.sent or (about is not None and whole)
        if about is not None and not (shaped and (whole or not broken)):
            cut = about["publication"] and (touched or (last and (broken or _CUT.match(chunk))))
            if cut and not prose and written.unseen < 0:
                written.unseen = place(start + len(chunk) - len(chunk.lstrip()))
            chunk = blank(chunk)
        elif about is None and broken:
            chunk = blank(chunk)
        elif about is not None and written.about < 0:
            written.about = place(start + len(chunk) - len(chunk.lstrip()))
        out += (chunk, sql[end : end + 1])
        start = end + 1
    return "".join(out)


_SPOKEN = re.compile(r"(?ai:\b(?:create|alter|drop)\s+publication\b)")
_CUT = re.compile(r"\s*(?ai:(?:create|alter|drop)\s+publication\s+)$")


def _fragments(text: str, strings: Sequence[Literal], used: set[int], down: Sequence[tuple[int, int]]) -> list[int]:
    """Strings that hold part of a statement about a publication, or a command that runs one."""
    places = []
    for number, literal in enumerate(strings):
        if number in used or _inside(literal.start, down) or _is_shown(text, literal):
            continue
        spoken = _SPOKEN.search(text, literal.body, literal.close)
        if spoken is not None and (
            text.find("psql", literal.body, literal.close) >= 0 or _CUT.match(text[literal.body : literal.close])
        ):
            places.append(spoken.start())
    return places
