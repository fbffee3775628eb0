"""Functions that return or replace what a regular expression matches (regexp.c, varlena.c).

Without capturing parentheses and with greedy quantifiers only, a match is the leftmost and the longest of these; other
expressions are not followed where it matters what their parts match.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.postgres.budget import joined, room
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Call, Function, Maker, evaluation_error
from pubcheck.postgres.executor.patterns import spans

MAKERS: dict[str, Maker] = {}

_GROUP = re.compile(r"(?<!\\)(?:\\\\)*\((?!\?)")
_LAZY = re.compile(r"[*+?}]\?")
_KNOWN_FLAGS = frozenset("gi")


class _Matches:
    """The matches of one call's regular expression."""

    def __init__(self, call: Call, pattern: str, flags: str, *, global_allowed: bool = True) -> None:
        if set(flags) - _KNOWN_FLAGS:
            raise Unknowable("a regular expression with flags")
        if "g" in flags and not global_allowed:
            name = call.proc.name
            raise evaluation_error("22023", f'{name}() does not support the "global" option')
        if _LAZY.search(pattern):
            raise Unknowable("what a regular expression with lazy quantifiers matches")
        self.call, self.pattern, self.folding, self.all = call, pattern, "i" in flags, "g" in flags
        self.captures = _GROUP.search(pattern) is not None

    def without_captures(self) -> _Matches:
        if self.captures:
            raise Unknowable("what the parentheses of a regular expression match")
        return self

    def of(self, text: str, start: int = 0) -> Iterator[tuple[int, int]]:
        return spans(self.pattern, self.folding, text, start, self.call.context.budget)

    def first(self, text: str) -> tuple[int, int] | None:
        return next(self.of(text), None)


def _replacing(call: Call) -> Function:
    def replace(text: str, pattern: str, by: str, flags: str = "") -> str:
        if flags[:1].isdecimal():
            raise evaluation_error("22023", f'invalid regular expression option: "{flags[0]}"')
        matches = _Matches(call, pattern, flags)
        return _replaced(matches, text, by, 0, 0 if matches.all else 1)

    return replace


def _replacing_nth(call: Call) -> Function:
    def replace(text: str, pattern: str, by: str, start: int, number: int = 1, flags: str = "") -> str:
        if start <= 0:
            raise evaluation_error("22023", f'invalid value for parameter "start": {start}')
        if number < 0:
            raise evaluation_error("22023", f'invalid value for parameter "n": {number}')
        matches = _Matches(call, pattern, flags)
        if len(call.expr.args) < 5 and matches.all:
            number = 0
        return _replaced(matches, text, by, start - 1, number)

    return replace


def _replaced(matches: _Matches, text: str, by: str, start: int, number: int) -> str:
    """The text with the match of that number replaced, with all of them where it is 0."""
    if re.search(r"\\[1-9]", by):
        raise Unknowable("what the parentheses of a regular expression match")
    template = _template(by)
    literal = sum(len(piece) for piece in template if piece is not None)
    parts: list[str] = []
    position = size = 0
    for count, (begin, end) in enumerate(matches.of(text, start), 1):
        if number and count < number:
            continue
        matched = text[begin:end]
        size += literal + template.count(None) * len(matched)
        room(size)
        parts.append(text[position:begin])
        parts += (matched if piece is None else piece for piece in template)
        position = end
        if number:
            break
    return joined("", [*parts, text[position:]])


def _template(by: str) -> list[str | None]:
    """The pieces of a replacement, None for the matched text (appendStringInfoRegexpSubstr): a backslash makes & and
    itself special; before others it stays."""
    pieces = re.split(r"(\\[&\\])", by)
    special = {"\\&": None, "\\\\": "\\"}
    return [special.get(piece, piece) for piece in pieces if piece != ""]


def _first_match(call: Call) -> Function:
    def match(text: str, pattern: str, flags: str = "") -> Array | None:
        span = _Matches(call, pattern, flags, global_allowed=False).without_captures().first(text)
        return None if span is None else Array([text[slice(*span)]])

    return match


def _substring(call: Call) -> Function:
    def match(text: str, pattern: str) -> str | None:
        span = _Matches(call, pattern, "").without_captures().first(text)
        return None if span is None else text[slice(*span)]

    return match


def _start(start: int) -> int:
    if start <= 0:
        raise evaluation_error("22023", f'invalid value for parameter "start": {start}')
    return start - 1


def _counting(call: Call) -> Function:
    def count(text: str, pattern: str, start: int = 1, flags: str = "") -> int:
        offset = _start(start)
        matches = _Matches(call, pattern, flags, global_allowed=False)
        return sum(1 for _ in matches.of(text, offset))

    return count


def _nth_substring(call: Call) -> Function:
    def match(text: str, pattern: str, start: int = 1, number: int = 1) -> str | None:
        offset = _start(start)
        if number <= 0:
            raise evaluation_error("22023", f'invalid value for parameter "n": {number}')
        matches = _Matches(call, pattern, "")
        for count, (begin, end) in enumerate(matches.of(text, offset), 1):
            if count == number:
                return text[begin:end]
        return None

    return match


def _position(call: Call) -> Function:
    def match(text: str, pattern: str) -> int:
        span = _Matches(call, pattern, "").first(text)
        return 0 if span is None else span[0] + 1

    return match


def _splitting(call: Call) -> Function:
    def split(text: str, pattern: str, flags: str = "") -> Array:
        matches = _Matches(call, pattern, flags, global_allowed=False)
        parts, position = [], 0
        for begin, end in matches.of(text):
            if begin == end and (begin >= len(text) or begin == position):
                # An empty match at the end or right after another one parts nothing.
                continue
            parts.append(text[position:begin])
            position = end
        return Array([*parts, text[position:]])

    return split


for _arguments in ("text,text,text", "text,text,text,text"):
    MAKERS[f"regexp_replace({_arguments})"] = _replacing
for _arguments in ("int4", "int4,int4", "int4,int4,text"):
    MAKERS[f"regexp_replace(text,text,text,{_arguments})"] = _replacing_nth
for _arguments in ("text,text", "text,text,text"):
    MAKERS[f"regexp_match({_arguments})"] = _first_match
    MAKERS[f"regexp_split_to_array({_arguments})"] = _splitting
for _arguments in ("text,text", "text,text,int4", "text,text,int4,text"):
    MAKERS[f"regexp_count({_arguments})"] = _counting
for _arguments in ("text,text", "text,text,int4", "text,text,int4,int4"):
    MAKERS[f"regexp_substr({_arguments})"] = _nth_substring
MAKERS["regexp_instr(text,text)"] = _position
MAKERS["substring(text,text)"] = _substring
