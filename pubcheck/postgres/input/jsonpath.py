"""Input of jsonpath (utils/adt/jsonpath_scan.l, jsonpath_gram.y, jsonpath.c).

The errors name the token that the server's scanner read last: the first one that no valid path could have there.
"""

from __future__ import annotations

import re
from typing import NoReturn

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.common import input_error, invalid
from pubcheck.postgres.input.dispatch import InputContext
from pubcheck.postgres.input.numbers import parse_numeric, read_int4

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
_NUMBERS_15 = [
    *_numbers("(?:0|[1-9][0-9]*)", "[0-9]+"),
    _WORD,
]
_NUMBERS_16 = [
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

_KEYWORDS = frozenset(
    ("is", "to", "abs", "lax", "last", "flag", "size", "type", "with", "floor", "double", "exists", "starts", "strict",
     "ceiling", "keyvalue", "datetime", "unknown", "like_regex")
)  # fmt: skip
_KEYWORDS_17 = _KEYWORDS | {
    "date", "time", "number", "bigint", "string", "boolean", "decimal", "integer", "time_tz", "timestamp",
    "timestamp_tz",
}  # fmt: skip
_LITERALS = ("true", "false", "null")
_METHODS = frozenset(("abs", "size", "type", "floor", "double", "ceiling", "keyvalue"))
_METHODS_17 = _METHODS | {"bigint", "boolean", "date", "integer", "number", "string"}
_PRECISION_METHODS = ("time", "time_tz", "timestamp", "timestamp_tz")
_COMPARISONS = ("==", "!=", "<>", "<", "<=", ">", ">=")
_SCALARS = ("#text", "#variable", "#integer", "#number", *_LITERALS)
_DEEP = 100


class _Scanner:
    """Tokens on demand: ``kind`` (a keyword or operator itself, else #word, #text, #variable, #integer, #number or
    #end), ``value``, and ``near``, the text of the token in the server's scanner.
    """

    def __init__(self, text: str, major: int) -> None:
        self.text = text
        self.major = major
        self.at = 0
        self.kind = "#end"
        self.value = ""
        self.near = ""
        self._rules = _NUMBERS_16 if major >= 16 else _NUMBERS_15
        self._keywords = _KEYWORDS_17 if major >= 17 else _KEYWORDS

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
        self.kind = word if word in _LITERALS else lower if lower in self._keywords else "#word"

    def _quoted(self, kind: str) -> None:
        text, pieces = self.text, list[str]()
        while True:
            character = text[self.at : self.at + 1]
            if not character:
                self.near = ""
                raise self.error(
                    "unterminated quoted string" if self.major >= 16 else "unexpected end of quoted string"
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
                raise self.error("invalid Unicode escape sequence" if self.major >= 16 else "invalid unicode sequence")
            assert good is not None
            self.at = good.end()
            return _decoded([int(code, 16) for code in _CODE.findall(good[0].replace("\\u", " "))])
        if text.startswith("\\x", self.at):
            match = _HEX.match(text, self.at)
            if match is None:
                match = _HEX_FAIL.match(text, self.at)
                self.near = match[0] if match else ""
                raise self.error(
                    "invalid hexadecimal character sequence" if self.major >= 16 else "invalid hex character sequence"
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


class _Parser:
    """The grammar by descent. Functions return whether they read a predicate rather than an expression."""

    def __init__(self, text: str, major: int) -> None:
        self.scanner = _Scanner(text, major)
        self.major = major
        self.context = InputContext(major, None)
        self.filters = self.subscripts = self.depth = 0
        self.misplaced: ServerError | None = None
        """The first refusal of flattenJsonPathParseItem in the order of the text."""

    @property
    def kind(self) -> str:
        return self.scanner.kind

    def advance(self) -> None:
        self.scanner.advance()

    def unexpected(self) -> NoReturn:
        raise self.scanner.error("syntax error")

    def expect(self, *kinds: str) -> str:
        if self.kind not in kinds:
            self.unexpected()
        value = self.scanner.value
        self.advance()
        return value

    def accept(self, kind: str) -> bool:
        if self.kind != kind:
            return False
        self.advance()
        return True

    def parse(self) -> bool:
        """Return whether there is a path at all."""
        self.advance()
        if self.kind == "#end":
            return False
        if self.kind in ("strict", "lax"):
            self.advance()
        self.predicate_or_expression()
        if self.kind != "#end":
            self.unexpected()
        if self.misplaced:
            raise self.misplaced
        return True

    def predicate_or_expression(self) -> bool:
        self.depth += 1
        if self.depth > _DEEP:
            raise Unknowable("whether the server has the stack for a jsonpath nested so deeply")
        predicate = self.comparison()
        while self.kind in ("&&", "||"):
            if not predicate:
                self.unexpected()
            self.advance()
            if not self.comparison():
                self.unexpected()
        self.depth -= 1
        return predicate

    def predicate(self) -> None:
        if not self.predicate_or_expression():
            self.unexpected()

    def expression(self) -> None:
        if self.arithmetic():
            self.unexpected()

    def comparison(self) -> bool:
        if self.accept("!"):
            if self.accept("("):
                self.predicate()
                self.expect(")")
            else:
                self.exists()
            return True
        if self.kind == "exists":
            self.exists()
            return True
        if self.arithmetic():
            if self.accept("is"):
                self.expect("unknown")
            return True
        if self.kind in _COMPARISONS:
            self.advance()
            self.expression()
        elif self.accept("starts"):
            self.expect("with")
            self.expect("#text", "#variable")
        elif self.accept("like_regex"):
            pattern = self.expect("#text")
            flags = self.expect("#text") if self.accept("flag") else ""
            _check_regex(pattern, flags)
        else:
            return False
        return True

    def exists(self) -> None:
        self.expect("exists")
        self.expect("(")
        self.expression()
        self.expect(")")

    def arithmetic(self) -> bool:
        predicate = self.operand()
        while self.kind in ("+", "-", "*", "/", "%"):
            if predicate:
                self.unexpected()
            self.advance()
            if self.operand():
                self.unexpected()
        return predicate

    def operand(self) -> bool:
        signed = False
        while self.kind in ("+", "-"):
            signed = True
            self.advance()
        if self.accept("("):
            predicate = self.predicate_or_expression()
            self.expect(")")
            if self.kind not in (".", "[", "?"):
                if predicate and signed:
                    self.unexpected()
                return predicate
        else:
            self.primary()
        while self.kind in (".", "[", "?"):
            self.accessor()
        return False

    def primary(self) -> None:
        kind = self.kind
        if kind == "#number":
            parse_numeric(self.major, self.scanner.value)
        elif kind == "@":
            if not self.filters:
                self.misplace("@ is not allowed in root expressions")
        elif kind == "last":
            if not self.subscripts:
                self.misplace("LAST is allowed only in array subscripts")
        elif kind != "$" and kind not in _SCALARS:
            self.unexpected()
        self.advance()

    def misplace(self, message: str) -> None:
        self.misplaced = self.misplaced or input_error("42601", message)

    def accessor(self) -> None:
        if self.accept("?"):
            self.expect("(")
            self.filters += 1
            self.predicate()
            self.filters -= 1
            self.expect(")")
        elif self.accept("["):
            self.subscripts += 1
            if not self.accept("*"):
                self.subscript()
                while self.accept(","):
                    self.subscript()
            self.subscripts -= 1
            self.expect("]")
        else:
            self.expect(".")
            self.member()

    def subscript(self) -> None:
        self.expression()
        if self.accept("to"):
            self.expression()

    def member(self) -> None:
        kind = self.kind
        if kind == "**":
            self.advance()
            if self.accept("{"):
                self.level()
                if self.accept("to"):
                    self.level()
                self.expect("}")
            return
        named = kind in ("#word", "#text", *_LITERALS) or kind in self.scanner._keywords
        if kind != "*" and not named:
            self.unexpected()
        self.advance()
        if self.kind != "(":
            return
        if kind in (_METHODS_17 if self.major >= 17 else _METHODS):
            self.advance()
        elif kind == "datetime":
            self.advance()
            self.accept("#text")
        elif kind == "decimal":
            self.advance()
            self.decimal()
        elif kind in _PRECISION_METHODS:
            self.advance()
            self.accept("#integer")
        else:
            self.unexpected()
        self.expect(")")

    def level(self) -> None:
        if self.kind == "#integer":
            read_int4(self.context, self.scanner.value)
        elif self.kind != "last":
            self.unexpected()
        self.advance()

    def decimal(self) -> None:
        count = 0
        if self.kind != ")":
            while True:
                if self.kind in ("+", "-"):
                    self.advance()
                self.expect("#integer")
                count += 1
                if not self.accept(","):
                    break
        if self.kind == ")" and count > 2:
            raise input_error(
                "42601",
                "invalid input syntax for type jsonpath",
                ".decimal() can only have an optional precision[,scale].",
            )


_ATOM = r"(?:[A-Za-z0-9_ ,:;@#%&=~!'\"/<>\-.]|\\[dwsDWSmMyY.]|\[\^?[A-Za-z0-9_ .]+\])"
_PIECE = rf"(?:\^|\$|{_ATOM}[*+?]?)"
_GROUP = rf"\((?:{_PIECE})*(?:\|(?:{_PIECE})*)*\)[*+?]?"
_SIMPLE_REGEX = re.compile(rf"(?:{_PIECE}|{_GROUP})*+(?:\|(?:{_PIECE}|{_GROUP})*+)*+")


def _check_regex(pattern: str, flags: str) -> None:
    """makeItemLikeRegex, jspConvertRegexFlags; of regular expressions only plain ones are known to compile."""
    for flag in flags:
        if flag not in "ismxq":
            raise input_error(
                "42601",
                "invalid input syntax for type jsonpath",
                f'Unrecognized flag character "{flag}" in LIKE_REGEX predicate.',
            )
    if "q" in flags:
        return
    if "x" in flags:
        raise input_error("0A000", 'XQuery "x" flag (expanded regular expressions) is not implemented')
    if len(pattern) > 500 or not _SIMPLE_REGEX.fullmatch(pattern):
        refuse_regex(pattern)
        raise Unknowable("whether a regular expression of LIKE_REGEX is valid")


_REGEX_TOKEN = re.compile(rf"(?P<atom>\^|\$|{_ATOM})|(?P<many>[*+?]\??)|(?P<open>\((?!\?))|(?P<close>\))|(?P<or>\|)")


def refuse_regex(pattern: str) -> None:
    """Refuse obviously invalid regular expressions (regex/regcomp.c). Raises ServerError 2201B."""
    if pattern.startswith("***"):
        return  # a director: what follows may be no expression at all
    pos, depth, before = 0, 0, "open"
    while pos < len(pattern):
        match = _REGEX_TOKEN.match(pattern, pos)
        if match is None:
            rest = pattern[pos:]
            if rest == "[" or (rest[0] == "[" and rest[1:].isalnum()):
                raise _bad_regex("brackets [] not balanced")
            if rest == "\\":
                raise _bad_regex("invalid escape \\ sequence")
            return
        kind = match.lastgroup or ""
        if kind == "many" and before in ("open", "or", "many"):
            raise _bad_regex("quantifier operand invalid")
        if kind == "many" and match.start() and pattern[match.start() - 1] in "^$":
            return
        depth += (kind == "open") - (kind == "close")
        if depth < 0:
            raise _bad_regex("parentheses () not balanced")
        pos, before = match.end(), kind
    if depth:
        raise _bad_regex("parentheses () not balanced")


def _bad_regex(why: str) -> ServerError:
    return input_error("2201B", f"invalid regular expression: {why}")


def read_jsonpath(context: InputContext, text: str, typmod: int = -1) -> str:
    """jsonpath_in. The value is the text."""
    if not _Parser(text, context.major).parse():
        raise invalid("jsonpath", text)
    return text
