"""Strings of a program that are put together: constants as one text, anything else as something unknown.

`"SET TABLE " + ", ".join(tables)` says `SET TABLE` and something unknown: a string with a method called on it, or in
the arguments of a call, is part of an expression and not of the statement.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.extract.escapes import Piece, pieces
from pubcheck.extract.string_literals import BEFORE, Language, Literal, assigned_name

_LONGEST = 400
"""Characters between two strings that are read as an expression."""
_COMMENT = r"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|(?<![^\s])\#[^\n]*+"
_COMMENTS = re.compile(_COMMENT)
_GAP = rf"(?:\s|\\\r?\n|{_COMMENT})*+"
_PRESERVING_METHODS = re.compile(
    r"(?:\s*\.\s*(?:l?strip\w*|rstrip|trim\w*|freeze|squish|to_string|to_owned|into|dup|as_str)\b(?:\(\))?)*+"
)
"""Methods that leave a statement what it is."""
_FORMATS = re.compile(r"\s*\.\s*format(?:ted)?\(")
_PRIMARY = re.compile(r"(?:(?:await|new|not)\s+|[&*!-])*+[\w$@]++[!?]?(?!['\"`])")
_MEMBER = re.compile(r"\s*(?:[?!&]?\.|::|->)\s*[\w$@]+[!?]?")
_MEMBER_OF_PHP = re.compile(r"\s*(?:\??->|::)\s*[\w$]+")
_BLOCK = re.compile(r"[ \t]*(?=\{\s*\|)")
_BRACKET = re.compile(r"[()\[\]{}]")

# Code that appends a string to a text. The string is then only a part of that text.
_BUILDS = re.compile(
    r"(?:\bString(?:Builder|Buffer|IO)\(|\.(?:Append|WriteString|push_str)\(|(?<![=!<>])(?:\+|\.)=)\s*\Z"
    r"|\bFprintf?\([^,\n]{1,60},\s*\Z"
)
_ADDED = re.compile(
    r"(?<![\w.$@])(?P<name>[$@]{0,2}\w++)\s*+"
    r"(?:(?:\+|\.|<<)=|<<|\.(?:append|push_str|concat|insert)\b|=\s*(?P=name)\s*[+.])"
)


class Chain(Struct):
    """The text of several concatenated strings.

    ``pieces`` end at the offset ``end``; ``last`` is the number of the last string. ``grows``: the program appends
    something unknown.
    """

    pieces: list[Piece]
    end: int
    last: int
    grows: bool


def chain(
    text: str, growing: frozenset[str], strings: Sequence[Literal], number: int, begin: int, language: Language
) -> Chain:
    """Return the text that begins at an offset of the string ``number``. ``growing``: see ``growing_names``."""
    literal = strings[number]
    holes = tuple(hole for hole in literal.holes if hole[0] >= begin)
    group = list(pieces(text, begin, literal.close, literal.escapes, holes))
    if literal.heredoc:
        return Chain(group, literal.close, number, grows=False)
    operator = re.compile(rf"{_GAP}(?:{language.joins}){_GAP}")
    close, end = literal.close, _PRESERVING_METHODS.match(text, literal.end).end()  # type: ignore[union-attr]
    unknown = False
    while True:
        following = number + 1 if number + 1 < len(strings) and not strings[number + 1].heredoc else -1
        if following >= 0 and not unknown and _adjacent(text, end, strings[following], language):
            start = strings[following].start
        else:
            joint = operator.match(text, end, end + _LONGEST)
            if joint is None:
                break
            start = joint.end()
        if following >= 0 and strings[following].start == start and not _used_by(text, strings[following], language):
            literal, number = strings[following], following
            group.append(Piece(close, literal.body, "", exact=False, hole=unknown))
            group += pieces(text, literal.body, literal.close, literal.escapes, literal.holes)
            close, end = literal.close, _PRESERVING_METHODS.match(text, literal.end).end()  # type: ignore[union-attr]
            unknown = False
            continue
        stop = _operand(text, strings, number, start, language)
        if stop == start:
            break
        unknown, end = True, stop
        while number + 1 < len(strings) and strings[number + 1].start < end:
            number += 1
    grows = not unknown and _grows(text, growing, strings[number], group[0].start if group else begin)
    if unknown or grows:
        group.append(Piece(close, end, "", exact=False, hole=True))
        return Chain(group, end, number, grows=True)
    return Chain(group, close, number, grows=False)


def _adjacent(text: str, end: int, follower: Literal, language: Language) -> bool:
    """Return whether two constants make one, with or without an operator between them."""
    if follower.start - end > _LONGEST:
        return False
    return re.fullmatch(language.adjacent, _COMMENTS.sub("", text[end : follower.start])) is not None


def _used_by(text: str, literal: Literal, language: Language) -> bool:
    """Return whether a string begins an expression that says something else, such as `", ".join(names)`."""
    offset = _PRESERVING_METHODS.match(text, literal.end).end()  # type: ignore[union-attr]
    member = _member(language).match(text, offset)
    return text.startswith("[", offset) or (
        member is not None and text.startswith("(", member.end()) and _FORMATS.match(text, offset) is None
    )


def _member(language: Language) -> re.Pattern[str]:
    return _MEMBER_OF_PHP if language.joins == r"\." else _MEMBER


def _operand(text: str, strings: Sequence[Literal], number: int, start: int, language: Language) -> int:
    """Return the end of the expression that begins at an offset, after the string of that number; the offset where none
    does, or none that is short."""
    starts = [
        string.start for string in strings[number + 1 : number + 1 + _LONGEST] if string.start <= start + _LONGEST
    ]
    own = strings[number + 1 : number + 1 + len(starts)]
    if starts and starts[0] == start:
        end = own[0].end
    elif text[start : start + 1] in ("(", "["):
        end = _bracketed(text, starts, own, start)
    else:
        primary = _PRIMARY.match(text, start)
        end = primary.end() if primary is not None else start
    while end > start:
        block = _BLOCK.match(text, end)
        if text[end : end + 1] in ("(", "[") or block is not None:
            opened = end if block is None else block.end()
            closed = _bracketed(text, starts, own, opened)
            if closed == opened:
                break
            end = closed
            continue
        member = _member(language).match(text, end, start + _LONGEST)
        if member is None:
            break
        end = member.end()
    return end


def _bracketed(text: str, starts: Sequence[int], strings: Sequence[Literal], start: int) -> int:
    """Behind the bracket that closes the one at an offset; the offset where it is too far."""
    depth, end = 0, start
    while (bracket := _BRACKET.search(text, end, start + _LONGEST)) is not None:
        inside = bisect_left(starts, bracket.start()) - 1
        if inside >= 0 and bracket.start() < strings[inside].end:
            end = strings[inside].end
            continue
        depth += 1 if bracket[0] in "([{" else -1
        end = bracket.end()
        if depth == 0:
            return end
    return start


def growing_names(code: str) -> frozenset[str]:
    """Return the names of a program to whose texts more is added."""
    return frozenset(match["name"] for match in _ADDED.finditer(code))


def _grows(text: str, growing: frozenset[str], last: Literal, start: int) -> bool:
    """Return whether the program adds to a text elsewhere; one that ends with a semicolon is whole."""
    if text[max(0, last.close - BEFORE) : last.close].rstrip().endswith(";"):
        return False
    before = text[max(0, start - BEFORE) : start].rstrip("\"'`")
    if _BUILDS.search(before) is not None:
        return True
    return assigned_name(before) in growing
