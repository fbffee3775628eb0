"""SQL in XML and YAML: the statements in Liquibase's change logs, and scalars that hold SQL or a shell command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.extract.concatenation import Piece, pieces
from pubcheck.extract.embedded_sql import MENTION, Written, assembled, begins_statement, worked_out
from pubcheck.extract.shell import sql_arguments
from pubcheck.source import View

# XML: the statements in Liquibase's change logs, in the elements `sql` and `createProcedure`. No document is built:
# elements are found by their tags. `rollback` elements are skipped.

_OPENING = re.compile(r"<!--|<(?P<tag>sql|createProcedure|rollback)\b[^<>]*(?<!/)>")
_DATA = re.compile(r"<!--|<!\[CDATA\[")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>"}
_TABLE = re.compile(r"\btableName\s*=\s*\"([A-Za-z_]\w{0,62})\"")


def xml(text: str) -> View:
    """Return a change log's statements. Which of its changes are run is known to Liquibase alone."""
    written = [worked_out(text, list(_pieces(text, *body)), body[1], runs=True) for body in _bodies(text)]
    view = assembled(text, written, [part.unseen for part in written if part.unseen >= 0], in_order=False)
    return replace(view, named=tuple((match.start(1), match[1]) for match in _TABLE.finditer(text)))


def _bodies(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of the texts of elements that hold statements."""
    offset, endless = 0, set()
    while (match := _OPENING.search(text, offset)) is not None:
        offset = match.end()
        closing = f"</{match['tag']}" if match["tag"] else "-->"
        end = text.find(closing, offset) if closing not in endless else -1
        if end < 0:
            endless.add(closing)
            continue
        if match["tag"] not in (None, "rollback"):
            yield offset, end
        offset = end + len(closing)


def _pieces(text: str, start: int, end: int) -> Iterator[Piece]:
    offset = start
    while (mark := _DATA.search(text, offset, end)) is not None:
        yield from pieces(text, offset, mark.start(), "xml", ())
        close = text.find(_ENDS[mark[0]], mark.end(), end)
        close = end if close < 0 else close
        offset = min(close + 3, end)
        if mark[0] == "<!--":
            yield Piece(mark.start(), offset, " ", exact=False)
            continue
        yield Piece(mark.start(), mark.end(), "", exact=False)
        yield from pieces(text, mark.end(), close, "none", ())
        if offset > close:
            yield Piece(close, offset, "", exact=False)
    yield from pieces(text, offset, end, "xml", ())


#
# YAML: scalars that hold SQL, or a shell command that gives SQL to psql.
#
# Block scalars, quoted and plain ones, as far as their lines and indentation tell (YAML 1.2.2, chapters 7 and 8); no
# document is built, so templates that are not yet YAML are read as well.

_BLOCK = re.compile(
    r"^(?P<indent>[ ]*+)(?P<items>(?:-[ ]++)*+)(?:(?![ \-])[^\n]*?:[ \t]+|(?<=- ))?(?:[!&][^ \n]+[ \t]+)*+"
    r"[|>][0-9+-]{0,2}[ \t]*(?:\#[^\n]*)?\r?\n",
    re.MULTILINE,
)
_LINE = re.compile(r"(?P<indent>[ \t]*+)(?P<first>[^\s]?)[^\n]*+(?:\n|\Z)")
_QUOTED = re.compile(
    r"(?P<comment>(?<![^\s])\#[^\n]*+)|\"(?P<double>(?:[^\"\\]++|\\(?s:.))*+)\"|(?<![^\s\[,{(=])'(?P<single>(?:[^']++|'')*+)'"
)
_PLAIN = re.compile(
    r"^(?P<indent>[ ]*+)(?P<items>(?:-[ ]++)*+)(?P<key>[\w./-]+:[ \t]+)?(?P<sql>(?ai:create|alter|drop)[ \t]+[^\n]+)",
    re.MULTILINE,
)
_PSQL = re.compile(r"\bpsql\b")
_CONTROL = re.compile(r"\{\{-?\s*(?:if|else|end|range|with|define|block|/\*)")
"""A template directive that inserts nothing itself and decides whether other text is inserted."""
_CONTROLS = re.compile(rf"(?:\s*+{_CONTROL.pattern}[^{{}}\n]*+\}}\}})*+")
_VALUE = re.compile(r"\{\{[^{}\n]*+\}\}|\$\{[^{}\n]*+\}|\$\([A-Za-z_]\w*\)")


def yaml(text: str) -> View:
    """Return a YAML file's statements."""
    written: list[Written] = []
    offset = 0
    for start, end in (*_blocks(text), (len(text), len(text))):
        written += _flow(text, offset, start)
        if end > start:
            written += _block(text, start, end)
        offset = end
    unseen = [statement.unseen for statement in written if statement.unseen >= 0]
    # Whether two texts are for one database, and which is run first, is not known.
    in_order = len(written) <= 1 and not any(_CONTROL.search(text, part.start, part.end) for part in written)
    return assembled(text, written, unseen, in_order=in_order)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Return the bodies of block scalars: the lines after a header that are further in than what holds it."""
    offset = 0
    while (header := _BLOCK.search(text, offset)) is not None:
        # An entry of a sequence is further in than its dash.
        items = len(header["items"])
        indent = len(header["indent"]) + (items if ":" in header[0] else max(0, items - 2))
        start = offset = header.end()
        while offset < len(text):
            line = _LINE.match(text, offset)
            assert line is not None
            if line["first"] and len(line["indent"]) <= indent:
                break
            offset = line.end()
        yield start, offset


def _block(text: str, start: int, end: int) -> list[Written]:
    begin = _CONTROLS.match(text, start, end)
    if begin is not None and begins_statement(text, begin.end(), end):
        return [worked_out(text, _with_values(text, start, end), end)]
    return [item.written for item in sql_arguments(text, start, end)] if MENTION.search(text, start, end) else []


def _with_values(text: str, start: int, end: int) -> list[Piece]:
    parts = []
    offset = start
    for value in _VALUE.finditer(text, start, end):
        hole = _CONTROL.match(value[0]) is None
        parts += [
            Piece(offset, value.start(), text[offset : value.start()]),
            Piece(*value.span(), "", exact=False, hole=hole),
        ]
        offset = value.end()
    return [*parts, Piece(offset, end, text[offset:end])]


def _flow(text: str, start: int, end: int) -> Iterator[Written]:
    """Yield the SQL of quoted and plain scalars that begin like a statement or run psql."""
    offset = start
    for quoted in _QUOTED.finditer(text, start, end):
        kind = quoted.lastgroup or ""
        if kind == "comment":
            continue
        yield from _plain(text, offset, quoted.start())
        offset = quoted.end()
        begin, close = quoted.span(kind)
        if begins_statement(text, begin, close):
            escapes = "c" if kind == "double" else "doubled single"
            yield worked_out(text, list(pieces(text, begin, close, escapes, ())), close)
        elif _PSQL.search(text, begin, close) and MENTION.search(text, begin, close):
            yield from (argument.written for argument in sql_arguments(text, begin, close, quoted=kind == "double"))
    yield from _plain(text, offset, end)


def _plain(text: str, start: int, end: int) -> Iterator[Written]:
    for match in _PLAIN.finditer(text, start, end):
        begin, stop = match.span("sql")
        if not begins_statement(text, begin, stop):
            continue
        # It goes on in lines that are further in than its key, or its dash.
        indent = len(match["indent"]) + (len(match["items"]) if match["key"] else 0)
        while stop < end:
            line = _LINE.match(text, stop + 1, end)
            if line is None or not line["first"] or len(line["indent"]) <= indent or line["first"] == "#":
                break
            stop = min(line.end(), end)
            stop -= text[stop - 1 : stop] == "\n"
        comment = re.compile(r"[ \t]\#").search(text, begin, stop)
        stop = comment.start() if comment is not None and "\n" not in text[begin:stop] else stop
        yield worked_out(text, [Piece(begin, stop, text[begin:stop])], stop)
    for line in re.compile(r"^[^\n]*\bpsql\b[^\n]*$", re.MULTILINE).finditer(text, start, end):
        if MENTION.search(line[0]):
            yield from (argument.written for argument in sql_arguments(text, line.start(), line.end()))
