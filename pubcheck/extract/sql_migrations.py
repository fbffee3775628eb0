"""SQL files that PostgreSQL is not given letter by letter: migrations with a way back in them, and templates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.extract.masked_text import LFS, Canvas, announces_rollback, ascending, joined, of_liquibase, of_template
from pubcheck.lexing.items import blank, filler, padded
from pubcheck.rulebook import finder
from pubcheck.source import Note, View

_PART = re.compile(
    r"^[ \t]*(?:--|\#)[ \t-]*(?ai:"
    r"(?P<up>\+goose[ \t]+up\b|migrate:up\b|\+migrate[ \t]+up\b|up[ \t]+migration\b|!ups\b|\+micrate[ \t]+up\b"
    r"|rambler[ \t]+up\b|=+[ \t]*up[ \t]*=+)"
    r"|(?P<down>\+goose[ \t]+down\b|migrate:down\b|\+migrate[ \t]+down\b|down[ \t]+migration\b|!downs\b"
    r"|\+micrate[ \t]+down\b|rambler[ \t]+down\b|=+[ \t]*down[ \t]*=+|//[ \t]*@undo\b"
    r"|create[ \t]+above[ \t]*/[ \t]*drop[ \t]+below))[^\n]*",
    re.MULTILINE,
)
"""goose, dbmate, sql-migrate, node-pg-migrate, Play's evolutions, micrate, rambler, shmig, MyBatis and tern."""

_DUMP = re.compile(r"\s*--\s*\n-- PostgreSQL database (?:cluster )?dump")
"""The first lines of what pg_dump writes: no template and no way back, whatever the data say, and large."""
_CHANGESET = re.compile(r"^[ \t]*--[ \t]*(?ai:changeset)[ \t]+(?P<given>[^\n]*)", re.MULTILINE)
_DBMS = re.compile(r"(?ai:\bdbms[ \t]*:[ \t]*\"?([!\w, ]+))")
_CONDITION = re.compile(r"(?ai:\b(?:context|contexts|contextfilter|labels)[ \t]*:)")
_DELIMITER = re.compile(r"(?ai:\benddelimiter[ \t]*:[ \t]*\"?(/|GO|//|@)(?=[\" \t\r]|$))")
_PRECONDITION = re.compile(r"^[ \t]*--[ \t]*(?ai:preconditions\b[^\n]*\bonfail:(?:mark_ran|continue))", re.MULTILINE)

# What is surely one: `{{1,2},{3,4}}` is an array.
_PLAUSIBLE = re.compile(
    r"\{\{-?\s*[#/>^&!.$\w\"'(][^{}]{0,400}\}\}|\{%.{0,4000}?%\}|\{\#.{0,4000}?\#\}|<%.{0,4000}?%>|[$#]\{[^{}\n]{1,200}\}",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<literal>(?<!\w)[eE]'(?:[^'\\]++|\\.|'')*+'?|'(?:[^']++|'')*+'?)|(?P<name>\"[^\"]*+\"?)|(?P<comment>--[^\n]*+)"
    r"|(?P<opened>/\*)|(?P<data>(?ai:\bfrom\s+stdin\b)[^;\n]*+;[^\n]*+\n)|(?P<dollar>(?<!\w)\$(?:[A-Za-z_]\w*+)?\$)"
    r"|(?P<template_comment>\{\#(?:[^\#]++|\#(?!\}))*+\#\}|<%\#(?:[^%]++|%(?!>))*+%>|\{\{!(?:[^}]++|\}(?!\}))*+\}\})"
    r"|(?P<control>\{%(?:[^%]++|%(?!\}))*+%\}|<%(?![=%])(?:[^%]++|%(?!>))*+%>"
    r"|\{\{-?\s*(?:[#/^>]|(?:if|else|end|range|with|block|define|template|include)\b)[^{}]*+\}\})"
    r"|(?P<value>\{\{\{?[^{}]*+\}?\}\}|<%=(?:[^%]++|%(?!>))*+%>|[$#]\{[^{}\n]*+\})",
    re.DOTALL,
)
_OPENS = re.compile(r"(?:\{%|\{\{|<%)[-+~]?\s*#?(?:if|unless|for|each|with|range|macro|call|block|define|while|case)\b")
_OPENS_BLOCK = re.compile(r"\bdo(?:\s*\|[^|]*\|)?\s*-?%>$")
_CLOSES = re.compile(r"(?:\{%|\{\{|<%)[-+~]?\s*(?:end\w*|/\w+)")


class _Painting(Struct):
    filled: list[tuple[int, int]]
    perhaps: list[tuple[int, int]]
    pieces: list[tuple[int, str]]
    open: list[int]


@finder("PUB013")
def script(text: str) -> View:
    """Return the view of an SQL file: blanks for its rollback part and control blocks, names for its values."""
    if text.startswith(LFS):
        message = "this is a Git LFS pointer; the file's content is missing"
        note = Note("PUB013", message, 0, len(LFS), "run `git lfs pull` first")
        return View(blank(text), notes=(note,))
    if _DUMP.match(text):
        return View(text)
    gone: list[tuple[int, int]] = []
    perhaps: list[tuple[int, int]] = []
    ends: list[int] = []
    if announces_rollback(text):
        gone += _rollback_parts(text)
    if of_liquibase(text):
        for start, end, runs in _changesets(text, ends):
            (perhaps if runs else gone).append((start, end))
    painted = _Painting([], perhaps, [], [])
    if of_template(text) and _PLAUSIBLE.search(text) is not None:
        _paint(text, 0, len(text), painted)
        perhaps += [(start, len(text)) for start in painted.open[:1]]
    if not gone and not painted.pieces and not painted.filled and not ends:
        return View(text, perhaps=joined(perhaps))
    sheet = Canvas(text)
    gone = ascending(gone)
    pieces = [painted_piece for painted_piece in painted.pieces if not _inside(painted_piece[0], gone)]
    pieces += [(copied_to, padded(text[copied_to:end], ";")) for copied_to, end in _delimiters(text, ends)]
    copied_to = 0
    for start, end, piece in sorted([*((a, b, "") for a, b in gone), *((a, a + len(new), new) for a, new in pieces)]):
        if start < copied_to:
            continue
        sheet.keep(copied_to, start)
        sheet.put(start, piece)
        copied_to = end
    sheet.keep(copied_to, len(text))
    return View(sheet.text(), joined(painted.filled), joined(perhaps))


def _inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spans)


def _rollback_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans to leave out: rollbacks, each up to the line that begins an up migration, and these lines.

    Some tools write such a line with a hash, which is not a comment to PostgreSQL.
    """
    since = -1
    for part in _PART.finditer(text):
        if part["down"] is not None and since < 0:
            since = part.start()
        elif part["up"] is not None:
            if since >= 0:
                yield since, part.start()
                since = -1
            yield part.span()
    if since >= 0:
        yield since, len(text)


def _changesets(text: str, ends: list[int]) -> Iterator[tuple[int, int, bool]]:
    """Return Liquibase's changesets for other databases, and those (True) that run under conditions.

    ``ends`` receives the offsets from which on statements end with another delimiter.
    """
    changesets = list(_CHANGESET.finditer(text))
    for number, changeset in enumerate(changesets):
        start, end = changeset.start(), changesets[number + 1].start() if number + 1 < len(changesets) else len(text)
        attributes = changeset["given"]
        dbms = _DBMS.search(attributes)
        if dbms is not None:
            names = [name.strip().lower() for name in dbms[1].split(",")]
            foreign = [name for name in names if name not in ("postgresql", "all", "")]
            if ("!postgresql" in names) or (len(foreign) == len(names) and not any(name[:1] == "!" for name in names)):
                yield start, end, False
                continue
        if _CONDITION.search(attributes) or _PRECONDITION.search(text, start, end):
            yield start, end, True
        if _DELIMITER.search(attributes):
            ends.append(start)


def _delimiters(text: str, ends: list[int]) -> Iterator[tuple[int, int]]:
    """Return the lines that hold nothing but another delimiter, in the changesets that begin at ``ends``."""
    for start in ends:
        following = _CHANGESET.search(text, start + 1)
        end = len(text) if following is None else following.start()
        for line in re.compile(r"^[ \t]*(?:/|GO|//|@)[ \t\r]*$", re.MULTILINE).finditer(text, start + 1, end):
            if line.end() > line.start():
                yield line.span()


def _paint(text: str, start: int, end: int, painted: _Painting) -> None:
    """Put names in the place of a template's values, and blanks in that of its control blocks."""
    waiting = [(start, end)]
    while waiting:
        position, limit = waiting.pop()
        while True:
            match = _TOKEN.search(text, position, limit)
            if match is None:
                break
            position = match.end()
            kind, token = match.lastgroup, match[0]
            if kind in ("literal", "name"):
                for placeholder in _PLAUSIBLE.finditer(text, match.start(), position):
                    painted.filled.append(placeholder.span())
            elif kind == "opened":
                closed = text.find("*/", position, limit)
                position = limit if closed < 0 else closed + 2
            elif kind == "data":
                closed = text.find("\n\\.", position - 1, limit)
                position = limit if closed < 0 else closed + 3
            elif kind == "dollar":
                closed = text.find(token, position, limit)
                if closed >= 0:
                    # A body of its own: what is open in it ends with it.
                    waiting.append((closed + len(token), limit))
                    limit = closed
            elif kind in ("template_comment", "control"):
                painted.pieces.append((match.start(), padded(token, "")))
                if kind == "control":
                    _block(match, painted)
            elif kind == "value":
                painted.filled.append(match.span())
                painted.pieces.append((match.start(), filler(token)))


def _block(match: re.Match[str], painted: _Painting) -> None:
    tag = match[0]
    if _CLOSES.match(tag):
        if painted.open:
            start = painted.open.pop()
            if not painted.open:
                painted.perhaps.append((start, match.end()))
    elif _OPENS.match(tag) or _OPENS_BLOCK.search(tag):
        painted.open.append(match.start())
