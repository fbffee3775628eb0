"""Input of jsonpath (utils/adt/jsonpath_gram.y, jsonpath.c)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from pubcheck.postgres.datum import whole_scale
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, input_error, invalid
from pubcheck.postgres.input.jsonpath_items import LITERALS, Item, Scanner, escaped
from pubcheck.postgres.input.numbers import parse_numeric, read_int4
from pubcheck.postgres.versions import Major

_FIRST_METHODS = frozenset(("abs", "size", "type", "floor", "double", "ceiling", "keyvalue"))
_ALL_METHODS = _FIRST_METHODS | {"bigint", "boolean", "date", "integer", "number", "string"}
_TEXT_METHODS = frozenset(("initcap", "lower", "upper"))
_TRIMMING = ("ltrim", "rtrim", "btrim")
_PRECISION_METHODS = ("time", "time_tz", "timestamp", "timestamp_tz")
_COMPARISONS = ("==", "!=", "<>", "<", "<=", ">", ">=")
_SCALARS = ("#text", "#variable", "#integer", "#number", *LITERALS)
_DEEP = 100


class _Parser:
    """The grammar by descent."""

    def __init__(self, text: str, major: Major) -> None:
        self.scanner = Scanner(text, major)
        self.major = major
        self.context = InputContext(major.number, None)
        self._methods = _ALL_METHODS if major.jsonpath_methods else _FIRST_METHODS
        if major.jsonpath_text_methods:
            self._methods |= _TEXT_METHODS
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

    def parse(self) -> str | None:
        """Return the path as it is written; None if there is none at all."""
        self.advance()
        if self.kind == "#end":
            return None
        strict = self.kind == "strict"
        if self.kind in ("strict", "lax"):
            self.advance()
        item = self.predicate_or_expression()
        if self.kind != "#end":
            self.unexpected()
        if self.misplaced:
            raise self.misplaced
        return ("strict " if strict else "") + item.shown(True)

    def predicate_or_expression(self) -> Item:
        self.depth += 1
        if self.depth > _DEEP:
            raise Unknowable("whether the server has the stack for a jsonpath nested so deeply")
        item = self.connected("||", lambda: self.connected("&&", self.comparison))
        self.depth -= 1
        return item

    def connected(self, operator: str, side: Callable[[], Item]) -> Item:
        """Predicates with an operator between them, or whatever one side is."""
        item = side()
        while self.kind == operator:
            if not item.predicate:
                self.unexpected()
            self.advance()
            right = side()
            if not right.predicate:
                self.unexpected()
            item = Item(operator, args=(item, right))
        return item

    def predicate(self) -> Item:
        item = self.predicate_or_expression()
        if not item.predicate:
            self.unexpected()
        return item

    def expression(self) -> Item:
        item = self.arithmetic()
        if item.predicate:
            self.unexpected()
        return item

    def comparison(self) -> Item:
        if self.accept("!"):
            if self.accept("("):
                inner = self.predicate()
                self.expect(")")
            else:
                inner = self.exists()
            return Item("!", args=(inner,))
        if self.kind == "exists":
            return self.exists()
        left = self.arithmetic()
        if left.predicate:
            if self.accept("is"):
                self.expect("unknown")
                return Item("is unknown", args=(left,))
            return left
        if self.kind in _COMPARISONS:
            operator = "!=" if self.kind == "<>" else self.kind
            self.advance()
            return Item(operator, args=(left, self.expression()))
        if self.accept("starts"):
            self.expect("with")
            kind = self.kind
            start = self.expect("#text", "#variable")
            return Item("starts with", args=(left, _scalar(kind, start, self.major)))
        if self.accept("like_regex"):
            pattern = self.expect("#text")
            flags = self.expect("#text") if self.accept("flag") else ""
            _check_regex(pattern, flags)
            shown = "".join(flag for flag in "ismxq" if flag in flags)
            return Item("like_regex", escaped(pattern) + (f' flag "{shown}"' if shown else ""), (left,))
        return left

    def exists(self) -> Item:
        self.expect("exists")
        self.expect("(")
        inner = self.expression()
        self.expect(")")
        return Item("exists", args=(inner,))

    def arithmetic(self) -> Item:
        items, operators = [self.operand()], list[str]()
        while self.kind in ("+", "-", "*", "/", "%"):
            if items[-1].predicate:
                self.unexpected()
            operators.append(self.kind)
            self.advance()
            items.append(self.operand())
            if items[-1].predicate:
                self.unexpected()
        return _sum(items, operators)

    def operand(self) -> Item:
        signs: list[str] = []
        while self.kind in ("+", "-"):
            signs.append(self.kind)
            self.advance()
        if self.accept("("):
            item = self.predicate_or_expression()
            self.expect(")")
            if self.kind not in (".", "[", "?"):
                if item.predicate and signs:
                    self.unexpected()
                return _signed(item, signs)
        else:
            item = self.primary()
        while self.kind in (".", "[", "?"):
            item.following.append(self.accessor())
        return _signed(item, signs)

    def primary(self) -> Item:
        kind, value = self.kind, self.scanner.value
        if kind == "@":
            if not self.filters:
                self.misplace("@ is not allowed in root expressions")
        elif kind == "last":
            if not self.subscripts:
                self.misplace("LAST is allowed only in array subscripts")
        elif kind != "$" and kind not in _SCALARS:
            self.unexpected()
        item = _scalar(kind, value, self.major)
        self.advance()
        return item

    def misplace(self, message: str) -> None:
        self.misplaced = self.misplaced or input_error("42601", message)

    def accessor(self) -> Item:
        if self.accept("?"):
            self.expect("(")
            self.filters += 1
            inner = self.predicate()
            self.filters -= 1
            self.expect(")")
            return Item("filter", args=(inner,))
        if self.accept("["):
            self.subscripts += 1
            subscripts = [Item("text", "*")] if self.accept("*") else [self.subscript()]
            while subscripts[0].text != "*" and self.accept(","):
                subscripts.append(self.subscript())
            self.subscripts -= 1
            self.expect("]")
            return Item("subscripts", args=subscripts)
        self.expect(".")
        return Item("text", "." + self.member())

    def subscript(self) -> Item:
        text = self.expression().shown(False)
        if self.accept("to"):
            text += " to " + self.expression().shown(False)
        return Item("text", text)

    def member(self) -> str:
        """A key, a wildcard or a method, as it is written."""
        kind, value = self.kind, self.scanner.value
        if kind == "**":
            self.advance()
            return self.levels()
        named = kind in ("#word", "#text", *LITERALS) or kind in self.scanner.keywords
        if kind != "*" and not named:
            self.unexpected()
        self.advance()
        if self.kind != "(":
            return kind if kind == "*" else escaped(value)
        argument = ""
        if kind in self._methods:
            self.advance()
        elif kind == "datetime":
            self.advance()
            if self.kind == "#text":
                argument = escaped(self.expect("#text"))
        elif kind == "decimal":
            self.advance()
            argument = self.decimal()
        elif kind in _PRECISION_METHODS:
            self.advance()
            if self.kind == "#integer":
                argument = _number(self.major, self.expect("#integer"))
        elif self.major.jsonpath_text_methods and kind in (*_TRIMMING, "replace", "split_part"):
            self.advance()
            argument = self.texts(kind)
        else:
            self.unexpected()
        self.expect(")")
        return f"{kind}({argument})"

    def texts(self, method: str) -> str:
        """The arguments of a method that takes texts."""
        if method in _TRIMMING:
            return escaped(self.expect("#text")) if self.kind == "#text" else ""
        first = escaped(self.expect("#text"))
        self.expect(",")
        if method == "replace":
            return f"{first},{escaped(self.expect('#text'))}"
        return f"{first},{_number(self.major, self.expect('#integer'))}"

    def levels(self) -> str:
        """What follows two asterisks."""
        if not self.accept("{"):
            return "**"
        first = last = self.level()
        if self.accept("to"):
            last = self.level()
        self.expect("}")
        if (first, last) == ("0", "last"):
            return "**"
        return f"**{{{first}}}" if first == last else f"**{{{first} to {last}}}"

    def level(self) -> str:
        level = "last"
        if self.kind == "#integer":
            level = str(read_int4(self.context, self.scanner.value))
        elif self.kind != "last":
            self.unexpected()
        self.advance()
        return level

    def decimal(self) -> str:
        numbers: list[str] = []
        if self.kind != ")":
            while True:
                sign = "-" if self.kind == "-" else ""
                if self.kind in ("+", "-"):
                    self.advance()
                numbers.append(_number(self.major, sign + self.expect("#integer")))
                if not self.accept(","):
                    break
        if self.kind == ")" and len(numbers) > 2:
            raise input_error(
                "42601",
                "invalid input syntax for type jsonpath",
                ".decimal() can only have an optional precision[,scale].",
            )
        return ",".join(numbers)


def _number(major: Major, text: str) -> str:
    return f"{whole_scale(parse_numeric(major, text)) + 0:f}"


def _scalar(kind: str, value: str, major: Major) -> Item:
    if kind in ("#number", "#integer"):
        return Item("number", _number(major, value))
    if kind == "#text":
        return Item("text", escaped(value))
    if kind == "#variable":
        return Item("text", "$" + escaped(value.removeprefix("$")))
    return Item("text", kind)


def _signed(item: Item, signs: list[str]) -> Item:
    """makeItemUnary: a number takes the sign."""
    for sign in reversed(signs):
        if item.kind != "number" or item.following:
            item = Item(f"unary {sign}", args=(item,))
        elif sign == "-" and item.text.strip("0."):
            item = Item("number", item.text[1:] if item.text.startswith("-") else "-" + item.text)
    return item


def _sum(items: list[Item], operators: list[str]) -> Item:
    """Operands and the operators between them; multiplications come first."""
    terms, sums = [items[0]], list[str]()
    for operator, item in zip(operators, items[1:], strict=True):
        if operator in "*/%":
            terms[-1] = Item(operator, args=(terms[-1], item))
        else:
            sums.append(operator)
            terms.append(item)
    total = terms[0]
    for operator, term in zip(sums, terms[1:], strict=True):
        total = Item(operator, args=(total, term))
    return total


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
    """jsonpath_in. The value is the text of the path's items, as the server writes them."""
    path = _Parser(text, context.major).parse()
    if path is None:
        raise invalid("jsonpath", text)
    return path
