"""Decoded literals of programming languages: pieces of a text, each with its value. Strings of a program that are put
together: constants as one text, anything else as something unknown."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from pubcheck.extract.string_literals import BEFORE, Language, Literal, assigned_name


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


# Names of a program with one value: variables that are assigned one string in the file, and nothing else. Where such a
# name is put into a statement, the statement says the text. Only names and lists of names are looked for: tables and
# publications are what programs give names to.

_NAME = r'(?:[A-Za-z_][\w$]{0,62}|"[^"\n]{1,63}")'
_VALUE = re.compile(rf"{_NAME}(?:\.{_NAME})?(?:\s*,\s*{_NAME}(?:\.{_NAME})?){{0,20}}")
"""The text that a constant may have."""

_TYPE = r"(?:\s*:\s*[\w&'<>\[\]., |]{1,60})?"
_ASSIGNED = {
    "python": rf"^[ \t]*(?P<name>\w+){_TYPE}[ \t]+=[ \t]*\(?\s*\Z",
    "ruby": r"^[ \t]*(?P<name>@{0,2}\w+)[ \t]*=[ \t]*\Z",
    "javascript": rf"\b(?:const|let|var|static|readonly|private|public|protected)[ \t]+(?P<name>\w+){_TYPE}\s*=\s*\Z",
    "go": r"(?:\b(?:const|var)[ \t]+|^[ \t]*)(?P<name>\w+)(?:[ \t]+string)?[ \t]*:?=[ \t]*\Z",
    "elixir": r"^[ \t]*(?:@(?P<attribute>\w+)[ \t]+|(?P<name>\w+)[ \t]*=[ \t]*)\Z",
    "java": r"\b(?:String|val|var|final)[ \t]+(?P<name>\w+)(?:\s*:\s*String)?\s*=\s*\Z",
    "csharp": r"\b(?:string|var|const|String)[ \t]+(?P<name>\w+)\s*=\s*\Z",
    "php": r"(?:^[ \t]*|\b(?:const|static|private|public|protected|string)[ \t]+)(?P<name>\$?\w+)\s*=\s*\Z",
    "rust": rf"\b(?:const|static|let)[ \t]+(?P<name>\w+){_TYPE}\s*=\s*\Z",
}
_ENDS = re.compile(r"[ \t]*\)?[ \t]*(?:;|\r?\n|\Z|//|#|\.freeze\b|as[ \t]+const\b)")
_OWNER = re.compile(r"(?:self|cls|this|Self|static|[A-Z]\w*)(?:\.|::|->)|\$this->|@@?|\$")
_BEFORE = 160


def constants(text: str, language: str, code: str, strings: Sequence[Literal]) -> Mapping[str, str]:
    """Return the names with one value, without their sigils. ``code`` is the text without strings."""
    assigned = re.compile(_ASSIGNED[language], re.MULTILINE)
    values: dict[str, str] = {}
    once: frozenset[str] | None = None
    for literal in strings:
        if literal.holes or literal.close - literal.body > _BEFORE or _ENDS.match(text, literal.end) is None:
            continue
        before = assigned.search(text, max(0, literal.start - _BEFORE), literal.start)
        if before is None:
            continue
        value = "".join(piece.value for piece in pieces(text, literal.body, literal.close, literal.escapes, ()))
        name = (before["name"] or before["attribute"]).lstrip("@$")
        if _VALUE.fullmatch(value):
            once = _assigned_once(code) if once is None else once
            if name in once:
                values[name] = value
    return values


_WORD = r"(?<![\w.])(\w++)"
_ASSIGNMENT = re.compile(
    rf"{_WORD}(?={_TYPE}(?:[ \t]+string)?[ \t]*(?::=|[+|.<&-]{{0,2}}=(?![=>~])|<<))|@(\w++)[ \t]++(?=[^ \t])"
)
_BOUND = tuple(
    map(
        re.compile,
        (
            rf"{_WORD}\s*+=>",
            r"\.(\w++)\s*+=(?!=)",
            rf"\b(?!(?:return|in|not|and|or|echo|print|yield|await|new|is)\s)\w[\w<>\[\].]*+\s+{_WORD}\s*+[,)]",
            rf"{_WORD}\s*+:\s*+\w++\s*+[,)]",
        ),
    )
)
_WORDS = re.compile(_WORD)
_REGIONS = (
    (re.compile(r"\b(?:def|defp|func|fn|function|for|foreach|catch|as|in|lambda)\b([^\n=]*+)"), _WORDS),
    (re.compile(r"\|([^|\n]*+)(?=\|)"), _WORDS),
    (re.compile(r"(?<![^\n=()])([^\n=()]*+)=(?!=)"), re.compile(rf"{_WORD}(?=\s*+,)")),
)
"""Parts of the code, and which words in them are bound: of `for`, of a block in Ruby, of an assignment to several."""


def _assigned_once(code: str) -> frozenset[str]:
    """Return the names that are assigned once and are not arguments, loop variables or assigned fields.

    Each pattern searches once for all names. One search per name would take quadratic time.
    """
    assignments = Counter(word or attribute for word, attribute in _ASSIGNMENT.findall(code))
    bound = {word for pattern in _BOUND for word in pattern.findall(code)}
    for region, words in _REGIONS:
        for part in region.findall(code):
            bound.update(words.findall(part))
    return frozenset(name for name, times in assignments.items() if times == 1 and name not in bound)


def value_of(expression: str, texts: Mapping[str, str]) -> str | None:
    """Return the text of an expression that is a constant's name, alone or qualified by an object."""
    expression = expression.strip()
    owner = _OWNER.match(expression)
    return texts.get(expression[owner.end() :] if owner is not None else expression)


_HOLE = re.compile(
    r"(?:[$#]?\{)?(?P<name>[^{}\"'`]*?)(?:![rs])?\}?"
    r"|[\"'`#]+\s*(?:\+|\.|<>|<<)\s*&?(?P<joined>[\w.$@:>-]+?)\s*(?:(?:\+|\.|<>|<<)\s*\w{0,2}[\"'`]+)?"
)
"""A placeholder in a string, alone or between two others."""


def filled(text: str, group: Sequence[Piece], texts: Mapping[str, str]) -> list[Piece]:
    """Return the pieces of a statement with what is known of its holes."""
    out = []
    for piece in group:
        if piece.hole:
            inside = _HOLE.fullmatch(text[piece.start : piece.end])
            value = value_of(inside["name"] or inside["joined"] or "", texts) if inside is not None else None
            if value is not None:
                piece = Piece(piece.start, piece.end, value, exact=False)
        out.append(piece)
    return out


_MARK = re.compile(r"%%|%(?:(?P<number>\d+)\$)?[sv](?!\w)|%\((?P<key>\w+)\)s|\{(?P<field>\w*)\}")
_ARGUMENTS = re.compile(
    r"\s*(?:%\s*(?:\((?P<several>[\w.$:@,\s>-]*)\)|(?P<one>[\w.]+)(?!\s*\())|\.format\((?P<format>[\w.,\s=]*)\)"
    r"|,(?P<call>[\w.$:@,\s>-]+)\))"
)
_FORMATTING = re.compile(r"(?:\b[sS]?printf|\bformat|\bFormat|\bformatted|format!|sql!)\(\s*$")


def formatted(text: str, group: Sequence[Piece], start: int, end: int, texts: Mapping[str, str]) -> list[Piece]:
    """Return the pieces of the string from ``start`` to ``end``, with its quotes, formatted with such names only."""
    arguments = _ARGUMENTS.match(text, end)
    if arguments is None or (
        arguments["call"] is not None and not _FORMATTING.search(text[max(0, start - 40) : start])
    ):
        return list(group)
    argument_text = next(group_text for group_text in arguments.groups() if group_text is not None)
    parts = [part.strip() for part in argument_text.split(",") if part.strip()]
    by_name = dict(part.split("=", 1) for part in parts if "=" in part)
    values = [value_of(part, texts) for part in parts if "=" not in part]
    by_key = {key.strip(): value_of(value, texts) for key, value in by_name.items()}
    if None in values or None in by_key.values():
        return list(group)
    out: list[Piece] = []
    count = 0
    for piece in group:
        offset = piece.start
        for mark in _MARK.finditer(piece.value) if piece.exact else ():
            if mark[0] == "%%" or (arguments["format"] is None) == (mark[0][0] == "{"):
                continue
            key = mark["key"] or mark["field"] or ""
            number = int(mark["number"]) - 1 if mark["number"] else int(key) if key.isdecimal() else count
            value = by_key.get(key) if key and not key.isdecimal() else values[number] if number < len(values) else None
            if value is None:
                return list(group)
            count += 1
            begin, stop = piece.start + mark.start(), piece.start + mark.end()
            if begin > offset:
                out.append(Piece(offset, begin, text[offset:begin]))
            out.append(Piece(begin, stop, value, exact=False))
            offset = stop
        if offset == piece.start:
            out.append(piece)
        elif offset < piece.end:
            out.append(Piece(offset, piece.end, text[offset : piece.end]))
    return out


#
# Strings of a program that are put together: constants as one text, anything else as something unknown.
#
# `"SET TABLE " + ", ".join(tables)` says `SET TABLE` and something unknown: a string with a method called on it, or in
# the arguments of a call, is part of an expression and not of the statement.

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
