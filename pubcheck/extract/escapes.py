"""Decoded literals of programming languages: pieces of a text, each with its value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct


class Piece(Struct, frozen=True):
    """``start`` to ``end`` of a text represent ``said``; if ``exact``, letter by letter, and if a ``hole``, for
    something that is not known."""

    start: int
    end: int
    value: str
    exact: bool = True
    hole: bool = False


_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "a": "\a",
    "0": "\0",
    "e": "\x1b",
    "s": " ",
}
_C_ESCAPE = re.compile(
    r"\\(?:(?P<dollars>\$\w*\\\$)|u\{(?P<braced>[0-9A-Fa-f]{1,6})\}|u(?P<four>[0-9A-Fa-f]{4})"
    r"|U(?P<eight>[0-9A-Fa-f]{8})|x(?P<two>[0-9A-Fa-f]{2})|(?P<line>\r?\n)|(?P<one>.))",
    re.DOTALL,
)
_MARGIN = r"(?<=\n)[ \t]*\|(?!\|)"
"""The margin that trimMargin and stripMargin of Kotlin and Scala remove."""
_RUST_LINE = re.compile(r"\\\r?\n[ \t\r\n]*")
_SINGLE_ESCAPE = re.compile(r"\\(?P<one>['\\])")
_SHELL_ESCAPE = re.compile(r'\\(?:(?P<dollars>\$\w*\\\$)|(?P<line>\r?\n)|(?P<one>[$`"\\]))')
_INNER_ESCAPE = re.compile(r'\\\\\\(?:(?P<dollars>\$\w*\\\\\\\$)|(?P<one>[$`"\\]))|\\(?P<line>\r?\n)|\\\\(?=[^\\])')
"""The escapes in double quotes within double quotes."""
_HERE_ESCAPE = re.compile(r"\\(?:(?P<dollars>\$\w*\\\$)|(?P<line>\r?\n)|(?P<one>[$`\\]))")
_DOUBLED = re.compile(r'""')
_DOUBLED_SINGLE = re.compile(r"''")
_XML_ESCAPE = re.compile(r"&(?:#x(?P<hex>[0-9A-Fa-f]{1,6})|#(?P<number>[0-9]{1,7})|(?P<name>lt|gt|amp|quot|apos));")
_NEVER = re.compile(r"(?!)")

_Decode = Callable[[re.Match[str]], str]


def _c(match: re.Match[str]) -> str:
    code = match["braced"] or match["four"] or match["eight"] or match["two"]
    if code is not None:
        number = int(code, 16)
        # Half of a pair of UTF-16 says nothing alone, and NUL ends a text.
        return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "?"
    return _of(match, _SIMPLE)


def _of(match: re.Match[str], simple: Mapping[str, str]) -> str:
    groups = match.groupdict()
    if groups.get("dollars"):
        return "$" + str(groups["dollars"]).removeprefix("$").replace("\\", "")
    escaped = groups.get("one")
    return simple.get(escaped, escaped) if escaped else ""


def _plain(match: re.Match[str]) -> str:
    return _of(match, {})


def _xml(match: re.Match[str]) -> str:
    if match["name"]:
        return {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}[match["name"]]
    number = int(match["hex"], 16) if match["hex"] else int(match["number"])
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "?"


ESCAPES: Mapping[str, tuple[re.Pattern[str], _Decode]] = {
    "none": (_NEVER, _plain),
    "c": (_C_ESCAPE, _c),
    "python": (_C_ESCAPE, _c),
    "java": (re.compile(rf"{_MARGIN}|{_C_ESCAPE.pattern}", re.DOTALL), _c),
    "rust": (re.compile(rf"{_RUST_LINE.pattern}|{_C_ESCAPE.pattern}", re.DOTALL), _c),
    "single": (_SINGLE_ESCAPE, _plain),
    "doubled": (_DOUBLED, lambda match: '"'),
    "doubled single": (_DOUBLED_SINGLE, lambda match: "'"),
    "shell": (_SHELL_ESCAPE, _plain),
    "inner shell": (_INNER_ESCAPE, _plain),
    "here": (_HERE_ESCAPE, _plain),
    "xml": (_XML_ESCAPE, _xml),
}
"""A pattern of the escapes and a function that decodes one, by the name of the escaping."""


def pieces(text: str, start: int, end: int, escapes: str, holes: tuple[tuple[int, int], ...]) -> Iterator[Piece]:
    """Return the pieces between two offsets of a text, in order and without gaps; a hole has no value."""
    pattern, decode = ESCAPES[escapes]
    position = start
    for hole_start, hole_end in (*holes, (end, end)):
        for match in pattern.finditer(text, position, hole_start):
            if match.start() > position:
                yield Piece(position, match.start(), text[position : match.start()])
            yield Piece(match.start(), match.end(), decode(match), exact=False)
            position = match.end()
        if hole_start > position:
            yield Piece(position, hole_start, text[position:hole_start])
        if hole_end > hole_start:
            yield Piece(hole_start, hole_end, "", exact=False, hole=True)
        position = hole_end
