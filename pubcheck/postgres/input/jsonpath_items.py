"""The tokens of a jsonpath (utils/adt/jsonpath_scan.l), its items, and how they are written (jsonpath.c:
printJsonPathItem).

The scanner's errors name the token that it read last: the first one that no valid path could have there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input import input_error
from pubcheck.postgres.versions import Major

_OTHER = r'[^?%$.\[\]{}()|&!=<>@#,*:\-+/\\" \t\n\r\f]'
_BLANK = " \t\n\r\f"


def _numbers(integer: str, digits: str) -> list[tuple[str, re.Pattern[str]]]:
    decimal = rf"(?:{integer}\.(?:{digits})?|\.{digits})"
    real = rf"(?:{decimal}|{integer})[Ee][-+]?{digits}"
    return [
        ("#number", re.compile(real)),
        ("#number", re.compile(decimal)),
        ("#integer", re.compile(integer)),
        ("invalid numeric literal", re.compile(rf"(?:{decimal}|{integer})[Ee][-+]")),
        ("trailing junk after numeric literal", re.compile(rf"{integer}{_OTHER}")),
        ("trailing junk after numeric literal", re.compile(rf"{decimal}{_OTHER}")),
        ("trailing junk after numeric literal", re.compile(rf"{real}{_OTHER}")),
    ]


_WORD = ("#word", re.compile(f"{_OTHER}+"))
_DECIMAL = [*_numbers("(?:0|[1-9][0-9]*)", "[0-9]+"), _WORD]
_NONDECIMAL = [
    *_numbers("(?:0|[1-9](?:_?[0-9])*)", "[0-9](?:_?[0-9])*"),
    ("#integer", re.compile(r"0(?:[xX][0-9a-fA-F](?:_?[0-9a-fA-F])*|[oO][0-7](?:_?[0-7])*|[bB][01](?:_?[01])*)")),
    _WORD,
]
_OPERATOR = re.compile(r"&&|\|\||\*\*|<=|<>|==|!=|>=|[?%$.\[\]{}()|&!=<>@#,*:\-+/]")
_VARIABLE = re.compile(rf"\${_OTHER}+")
_OTHERS = re.compile(f"{_OTHER}+")
_UNICODE = r"\\u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]{1,6}\})"
_UNICODES = re.compile(f"(?:{_UNICODE})+")
_UNICODE_FAIL = re.compile(rf"(?:{_UNICODE})*\\u(?:\{{[0-9A-Fa-f]{{0,6}}|[0-9A-Fa-f]{{0,3}})")
_CODE = re.compile(r"[0-9A-Fa-f]+")
_HEX = re.compile(r"\\x[0-9A-Fa-f]{2}")
_HEX_FAIL = re.compile(r"\\x[0-9A-Fa-f]?")
_QUOTED = re.compile(r'[^\\"]+')

_FIRST_KEYWORDS = frozenset(
    ("is", "to", "abs", "lax", "last", "flag", "size", "type", "with", "floor", "double", "exists", "starts", "strict",
     "ceiling", "keyvalue", "datetime", "unknown", "like_regex")
)  # fmt: skip
_ALL_KEYWORDS = _FIRST_KEYWORDS | {
    "date", "time", "number", "bigint", "string", "boolean", "decimal", "integer", "time_tz", "timestamp",
    "timestamp_tz",
}  # fmt: skip
_TEXT_KEYWORDS = frozenset(("btrim", "initcap", "lower", "ltrim", "replace", "rtrim", "split_part", "upper"))
LITERALS = ("true", "false", "null")


class Scanner:
    """Tokens on demand: ``kind`` (a keyword or operator itself, else #word, #text, #variable, #integer, #number or
    #end), ``value``, and ``near``, the text of the token in the server's scanner.
    """

    def __init__(self, text: str, major: Major) -> None:
        self.text = text
        self.major = major
        self.at = 0
        self.kind = "#end"
        self.value = ""
        self.near = ""
        self._rules = _NONDECIMAL if major.nondecimal_integers else _DECIMAL
        self.keywords = _ALL_KEYWORDS if major.jsonpath_methods else _FIRST_KEYWORDS
        if major.jsonpath_text_methods:
            self.keywords |= _TEXT_KEYWORDS

    def error(self, message: str) -> ServerError:
        """jsonpath_yyerror."""
        where = f'or near "{self.near}" of' if self.near else "end of"
        return input_error("42601", f"{message} at {where} jsonpath input")

    def advance(self) -> None:
        text = self.text
        while True:
            while self.at < len(text) and text[self.at] in _BLANK:
                self.at += 1
            if not text.startswith("/*", self.at):
                break
            self._comment()
        if self.at == len(text):
            self.kind, self.value, self.near = "#end", "", ""
            return
        character = text[self.at]
        if character == '"':
            self.at += 1
            self._quoted("#text")
        elif character == "\\":
            self._word("")
        elif text.startswith('$"', self.at):
            self.at += 2
            self._quoted("#variable")
        elif match := _VARIABLE.match(text, self.at):
            self._take("#variable", match[0])
        else:
            # The longest match, the first of equals.
            kind, token = "", ""
            for name, pattern in self._rules:
                match = pattern.match(text, self.at)
                if match and len(match[0]) > len(token):
                    kind, token = name, match[0]
            if kind == "#word":
                self.at += len(token)
                self._word(token)
            elif kind in ("#integer", "#number"):
                self._take(kind, token)
            elif kind:
                self.near = token
                raise self.error(kind)
            else:
                match = _OPERATOR.match(text, self.at)
                assert match is not None
                self._take(match[0], match[0])

    def _take(self, kind: str, token: str) -> None:
        self.kind, self.value, self.near = kind, token, token
        self.at += len(token)

    def _comment(self) -> None:
        end = self.text.find("*/", self.at + 2)
        if end < 0:
            self.near = ""
            raise self.error("unexpected end of comment")
        self.at = end + 2

    def _word(self, start: str) -> None:
        """An identifier or keyword.

        A blank after it is read with it; any other character clears the text shown in errors.
        """
        text, pieces = self.text, [start]
        while True:
            if self.at == len(text):
                self.near = ""
                break
            character = text[self.at]
            if character in _BLANK:
                start_of_blanks = self.at
                while self.at < len(text) and text[self.at] in _BLANK:
                    self.at += 1
                self.near = text[start_of_blanks : self.at]
                break
            if text.startswith("/*", self.at):
                # The scanner forgets the word that a comment follows.
                self._comment()
                self.advance()
                return
            if character == "\\":
                pieces.append(self._escape())
                continue
            match = _OTHERS.match(text, self.at)
            if match is None:
                self.near = ""
                break
            pieces.append(match[0])
            self.at = match.end()
        word = "".join(pieces)
        self.value = word
        lower = word.lower() if word.isascii() else word
        self.kind = word if word in LITERALS else lower if lower in self.keywords else "#word"

    def _quoted(self, kind: str) -> None:
        text, pieces = self.text, list[str]()
        while True:
            character = text[self.at : self.at + 1]
            if not character:
                self.near = ""
                raise self.error(
                    "unterminated quoted string" if self.major.jsonpath_words else "unexpected end of quoted string"
                )
            if character == '"':
                self.at += 1
                self.kind, self.value, self.near = kind, "".join(pieces), '"'
                return
            if character == "\\":
                pieces.append(self._escape())
            else:
                match = _QUOTED.match(text, self.at)
                assert match is not None
                pieces.append(match[0])
                self.at = match.end()

    def _escape(self) -> str:
        text = self.text
        if text.startswith("\\u", self.at):
            good, bad = _UNICODES.match(text, self.at), _UNICODE_FAIL.match(text, self.at)
            if bad and (good is None or bad.end() > good.end()):
                self.near = bad[0]
                raise self.error(
                    "invalid Unicode escape sequence" if self.major.jsonpath_words else "invalid unicode sequence"
                )
            assert good is not None
            self.at = good.end()
            return _decoded([int(code, 16) for code in _CODE.findall(good[0].replace("\\u", " "))])
        if text.startswith("\\x", self.at):
            match = _HEX.match(text, self.at)
            if match is None:
                match = _HEX_FAIL.match(text, self.at)
                self.near = match[0] if match else ""
                raise self.error(
                    "invalid hexadecimal character sequence"
                    if self.major.jsonpath_words
                    else "invalid hex character sequence"
                )
            self.at = match.end()
            return _decoded([int(match[0][2:], 16)])
        escaped = text[self.at + 1 : self.at + 2]
        if escaped in ("", "\n"):
            self.near = "\\"
            raise self.error("unexpected end after backslash")
        self.at += 2
        return {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}.get(escaped, escaped)


def _decoded(codes: list[int]) -> str:
    """parseUnicode: surrogates come in pairs."""
    characters, high = [], 0
    low_expected = input_error(
        "22P02", "invalid input syntax for type jsonpath", "Unicode low surrogate must follow a high surrogate."
    )
    for code in codes:
        if 0xD800 <= code <= 0xDBFF:
            if high:
                raise input_error(
                    "22P02",
                    "invalid input syntax for type jsonpath",
                    "Unicode high surrogate must not follow a high surrogate.",
                )
            high = code
            continue
        if 0xDC00 <= code <= 0xDFFF:
            if not high:
                raise low_expected
            code = 0x10000 + ((high & 0x3FF) << 10 | code & 0x3FF)
            high = 0
        elif high:
            raise low_expected
        if code == 0:
            raise input_error("22P05", "unsupported Unicode escape sequence", "\\u0000 cannot be converted to text.")
        if code > 0x10FFFF:
            raise input_error("42601", "invalid Unicode code point")
        characters.append(chr(code))
    if high:
        raise low_expected
    return "".join(characters)


_PRIORITIES = {
    "||": 0,
    "&&": 1,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "starts with"), 2),
    **dict.fromkeys("+-", 3),
    **dict.fromkeys("*/%", 4),
    **dict.fromkeys(("unary +", "unary -"), 5),
}
"""operationPriority of operators; that of any other item is greater."""
_HIGHEST = 6
_PREDICATES = frozenset(
    ("||", "&&", "==", "!=", "<", "<=", ">", ">=", "starts with", "like_regex", "!", "is unknown", "exists")
)
_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPED = str.maketrans({**{chr(code): f"\\u{code:04x}" for code in range(32)}, **_ESCAPES})


def escaped(text: str) -> str:
    """escape_json."""
    return f'"{text.translate(_ESCAPED)}"'


class Item:
    """An item and the accessors that follow it.

    ``kind`` is an operator, "number", "subscripts", "filter", "like_regex", "exists", "is unknown", or "text" for any
    item that is written as its ``text``.
    """

    __slots__ = ("args", "following", "kind", "text")

    def __init__(self, kind: str, text: str = "", args: Sequence[Item | None] = ()) -> None:
        self.kind = kind
        self.text = text
        self.args = args
        self.following: list[Item] = []

    @property
    def predicate(self) -> bool:
        return self.kind in _PREDICATES and not self.following

    def shown(self, brackets: bool) -> str:
        """printJsonPathItem, of all items of the chain."""
        return self._alone(brackets) + "".join(item._alone(True) for item in self.following)

    def _alone(self, brackets: bool) -> str:
        if self.kind == "text":
            return self.text
        if self.kind == "number":
            return f"({self.text})" if self.following else self.text
        if self.kind in _PRIORITIES or self.kind == "like_regex":
            return f"({self._operation()})" if brackets else self._operation()
        inner = ",".join("" if arg is None else arg.shown(False) for arg in self.args)
        return _AROUND[self.kind][0] + inner + _AROUND[self.kind][1]

    def _operation(self) -> str:
        priority = _PRIORITIES.get(self.kind, _HIGHEST)
        sides = [arg.shown(_PRIORITIES.get(arg.kind, _HIGHEST) <= priority) for arg in self.args if arg is not None]
        if self.kind == "like_regex":
            return f"{sides[0]} like_regex {self.text}"
        if self.kind.startswith("unary"):
            return self.kind[-1] + sides[0]
        return f"{sides[0]} {self.kind} {sides[1]}"


_AROUND = {
    "!": ("!(", ")"),
    "is unknown": ("(", ") is unknown"),
    "exists": ("exists (", ")"),
    "filter": ("?(", ")"),
    "subscripts": ("[", "]"),
}
