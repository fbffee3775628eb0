"""LIKE, SIMILAR TO and regular expressions (like.c, like_match.c, regexp.c, regex/).

Regular expressions are Python's where a pattern means the same to both: whether anything matches, not what.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.evaluation.calls import Call, Function, Maker
from pubcheck.postgres.evaluation.characters import lower
from pubcheck.postgres.evaluation.values import failed
from pubcheck.postgres.expressions.nodes import Expr

Match = Callable[[str], object]


@lru_cache(maxsize=256)
def like_match(pattern: str) -> Match:
    """Whether a text is LIKE a pattern, whose escape is the backslash."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        one = pattern[at]
        if one == "\\":
            at += 1
            if at == len(pattern):
                # It is an error only where the match gets so far.
                raise Unknowable("a LIKE pattern that ends with its escape character")
            parts.append(re.escape(pattern[at]))
        elif one == "%":
            if parts[-1:] != [".*"]:
                parts.append(".*")
        else:
            parts.append("." if one == "_" else re.escape(one))
        at += 1
    return re.compile("".join(parts), re.DOTALL).fullmatch


def escaped_pattern(pattern: str, escape: str) -> str:
    """like_escape: the pattern with a backslash for its escape character."""
    if len(escape) > 1:
        raise failed("22025", "invalid escape string", hint="Escape string must be empty or one character.")
    if escape == "\\":
        return pattern
    if not escape:
        return pattern.replace("\\", "\\\\")
    found, after = [], False
    for one in pattern:
        if one == escape and not after:
            found.append("\\")
            after = True
        elif one == "\\":
            found.append("\\" if after else "\\\\")
            after = False
        else:
            found.append(one)
            after = False
    return "".join(found)


def stored(expr: Expr) -> Callable[[str], str]:
    """An argument of type character as it is stored, with its blanks."""
    from pubcheck.postgres.evaluation.texts import as_stored

    return as_stored(expr)


def _like(negated: bool, folding: bool) -> Maker:
    def make(call: Call) -> Function:
        context, collation = call.context, call.collation
        whole = stored(call.expr.args[0])

        def test(text: str, pattern: str) -> bool:
            text = whole(text)
            if folding:
                text, pattern = lower(context, collation, text), lower(context, collation, pattern)
            return (like_match(pattern)(text) is not None) is not negated

        return test

    return make


# Regular expressions.

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\"),
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
_SHORTHANDS = {
    "d": "[0-9]",
    "w": "[a-zA-Z0-9_]",
    "s": "[ \\t\\n\\r\\f\\v]",
    "D": "[^0-9]",
    "W": "[^a-zA-Z0-9_]",
    "S": "[^ \\t\\n\\r\\f\\v]",
}
_ESCAPED = {"n": "\\n", "t": "\\t", "r": "\\r", "f": "\\f", "v": "\\v", "a": "\\a"}
_BOUND = re.compile(r"\{([0-9]{1,3})(?:(,)([0-9]{1,3})?)?\}")
_GREATEST_BOUND = 255


class _Regex:
    """Translates an advanced regular expression, and makes texts that it matches.

    ``ascii``: what it means rests on classes of other characters. Every part is a pair: its translation, and a text.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.ascii = False
        self.examples: list[str] = []
        """A text for each of the alternatives."""

    def unknown(self) -> Unknowable:
        return Unknowable(f'what the regular expression "{self.pattern}" matches')

    def peek(self, ahead: int = 0) -> str:
        return self.pattern[self.at + ahead : self.at + ahead + 1]

    def translate(self) -> str:
        """Raises Unknowable for what is not the same to both, invalid patterns among it."""
        if self.pattern.startswith(("***", "(?")):
            raise self.unknown()
        found, self.examples = self.alternatives(0)
        if self.at != len(self.pattern):
            raise self.unknown()
        return found

    def alternatives(self, depth: int) -> tuple[str, list[str]]:
        parts: list[str] = []
        examples = [""]
        while one := self.peek():
            if one == ")":
                if not depth:
                    raise self.unknown()
                break
            if one == "|":
                self.at += 1
                parts.append("|")
                examples.append("")
                continue
            atom, example = self.atom(one, depth)
            if atom in ("\\A", "\\Z"):
                # A constraint takes no quantifier.
                if self.peek() and self.peek() in "*+?{":
                    raise self.unknown()
                parts.append(atom)
                continue
            sign, times = self.quantifier()
            parts.append(atom + sign)
            examples[-1] += example * times
        return "".join(parts), examples

    def atom(self, one: str, depth: int) -> tuple[str, str]:
        self.at += 1
        if one == "^":
            return "\\A", ""
        if one == "$":
            return "\\Z", ""
        if one == ".":
            return ".", "x"
        if one in "*+?" or (one == "{" and self.peek().isdecimal()):
            raise self.unknown()
        if one == "(":
            if self.pattern.startswith("?:", self.at):
                self.at += 2
            elif self.peek() == "?":
                raise self.unknown()
            inner, examples = self.alternatives(depth + 1)
            if self.peek() != ")":
                raise self.unknown()
            self.at += 1
            return f"(?:{inner})", examples[0]
        if one == "[":
            return self.bracket()
        if one == "\\":
            return self.escape()
        return re.escape(one), one

    def escape(self) -> tuple[str, str]:
        one = self.peek()
        self.at += 1
        if one in _SHORTHANDS:
            self.ascii = True
            return _SHORTHANDS[one], _MEMBERS[one]
        if one in _ESCAPED:
            return _ESCAPED[one], " "
        if not one or one.isalnum():
            raise self.unknown()
        return re.escape(one), one

    def quantifier(self) -> tuple[str, int]:
        """What stands behind an atom, and how often its text is taken."""
        one = self.peek()
        found, times = "", 1
        if one and one in "*+?":
            found = one
            self.at += 1
        elif one == "{":
            match = _BOUND.match(self.pattern, self.at)
            if match is None:
                if self.peek(1).isdecimal():
                    raise self.unknown()
                return "", 1
            low, high = int(match[1]), int(match[3]) if match[3] else None
            if max(low, high or 0) > _GREATEST_BOUND or (high is not None and high < low):
                raise self.unknown()
            found, times = match[0], low
            self.at = match.end()
        if found:
            if self.peek() == "?":
                self.at += 1
            following = self.peek()
            if following in ("*", "+", "?") or (following == "{" and self.peek(1).isdecimal()):
                raise self.unknown()
        return found, times

    def bracket(self) -> tuple[str, str]:
        parts: list[str] = []
        example = ""
        negated = self.peek() == "^"
        self.at += negated
        first = True
        while True:
            one = self.peek()
            if not one:
                raise self.unknown()
            if one == "]" and not first:
                self.at += 1
                break
            first = False
            if one == "[" and self.peek(1) in (":", ".", "="):
                match = re.compile(r"\[:([a-z]+):\]").match(self.pattern, self.at)
                if match is None or match[1] not in _CLASSES:
                    raise self.unknown()
                parts.append(_CLASSES[match[1]])
                example = example or _CLASSES[match[1]].replace("\\", "")[0]
                self.ascii = True
                self.at = match.end()
                continue
            low, shorthand = self.member()
            if shorthand:
                parts.append(low)
                example = example or _MEMBERS[shorthand]
                continue
            example = example or low
            if self.peek() == "-" and self.peek(1) not in ("]", ""):
                self.at += 1
                high, shorthand = self.member()
                if shorthand or high < low:
                    raise self.unknown()
                parts.append(f"{re.escape(low)}-{re.escape(high)}")
            else:
                parts.append(re.escape(low))
        return f"[{'^' if negated else ''}{''.join(parts)}]", "x" if negated else example

    def member(self) -> tuple[str, str]:
        """A character of a bracket expression, or the content of a class such as \\d and its letter."""
        one = self.peek()
        self.at += 1
        if one == "[" and self.peek() in (":", ".", "="):
            raise self.unknown()
        if one != "\\":
            return one, ""
        one = self.peek()
        self.at += 1
        if one in ("d", "w", "s"):
            self.ascii = True
            return _SHORTHANDS[one][1:-1], one
        if not one or one.isalnum():
            raise self.unknown()
        return one, ""


_MEMBERS = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}


def texts_matching(pattern: str) -> list[str]:
    """Texts that a regular expression should match; none of one that is not followed."""
    regex = _Regex(pattern)
    try:
        regex.translate()
    except Unknowable:
        return []
    return regex.examples[:4]


@lru_cache(maxsize=256)
def _compiled(pattern: str, folding: bool) -> tuple[Match, bool]:
    """The search and whether it is only certain of texts in ASCII. Raises Unknowable."""
    regex = _Regex(pattern)
    translated = regex.translate()
    flags = re.DOTALL | (re.IGNORECASE | re.ASCII if folding else 0)
    try:
        return re.compile(translated, flags).search, regex.ascii or folding
    except (re.error, OverflowError):
        raise regex.unknown() from None


def search(pattern: str, folding: bool, text: str) -> bool:
    found, ascii_only = _compiled(pattern, folding)
    if ascii_only and not (text.isascii() and pattern.isascii()):
        raise Unknowable("the classes of characters under the database's collation")
    return found(text) is not None


def _regex(negated: bool, folding: bool) -> Maker:
    def make(call: Call) -> Function:
        whole = stored(call.expr.args[0])
        return lambda text, pattern: search(pattern, folding, whole(text)) is not negated

    return make


def _regexp_like(text: str, pattern: str, flags: str = "") -> bool:
    if flags.strip("i"):
        raise Unknowable("a regular expression with flags")
    return search(pattern, "i" in flags, text)


def similar_pattern(pattern: str, escape: str = "\\") -> str:
    """similar_escape_internal: SQL's pattern as a regular expression; those with separators are not followed."""
    if len(escape) > 1:
        raise failed("22025", "invalid escape string", hint="Escape string must be empty or one character.")
    found, after, bracket, place = ["^(?:"], False, False, 0
    for one in pattern:
        if after:
            if one == '"' and not bracket:
                raise Unknowable("a SIMILAR TO pattern with separators")
            found.append("\\" + one)
            after = False
        elif escape and one == escape:
            after = True
        elif bracket:
            if one == "\\":
                found.append("\\")
            found.append(one)
            place += 1
            if one == "[":
                raise Unknowable("a SIMILAR TO pattern with classes of characters")
            if one == "]" and place > 1:
                bracket = False
            elif one == "^" and place == 1:
                place = 0
        elif one == "[":
            found.append(one)
            bracket, place = True, 0
        elif one == "%":
            found.append(".*")
        elif one == "_":
            found.append(".")
        elif one == "(":
            found.append("(?:")
        elif one in "\\.^$":
            found.append("\\" + one)
        else:
            found.append(one)
    return "".join((*found, ")$"))


def _similar_escape(pattern: str | None, escape: str | None) -> str | None:
    """The function of old, which takes no escape for the usual one."""
    return None if pattern is None else similar_pattern(pattern, "\\" if escape is None else escape)


LIKE_MAKERS: dict[str, Maker] = {
    **{
        f"{kind}{name}": _like(negated, folding)
        for kind in ("text", "name", "bpchar")
        for name, negated, folding in (
            ("like", False, False),
            ("nlike", True, False),
            ("iclike", False, True),
            ("icnlike", True, True),
        )
    },
    **{
        f"{kind}{name}": _regex(negated, folding)
        for kind in ("text", "name", "bpchar")
        for name, negated, folding in (
            ("regexeq", False, False),
            ("regexne", True, False),
            ("icregexeq", False, True),
            ("icregexne", True, True),
        )
    },
    **{f"like({kind},text)": _like(False, False) for kind in ("text", "name")},
    **{f"notlike({kind},text)": _like(True, False) for kind in ("text", "name")},
    "like_escape(text,text)": lambda call: escaped_pattern,
    "regexp_like(text,text)": lambda call: _regexp_like,
    "regexp_like(text,text,text)": lambda call: _regexp_like,
    "similar_to_escape(text)": lambda call: similar_pattern,
    "similar_to_escape(text,text)": lambda call: similar_pattern,
    "similar_escape(text,text)": lambda call: _similar_escape,
}
