"""LIKE, SIMILAR TO and regular expressions (like.c, like_match.c, regexp.c, regex/).

Single characters are matched by Python's regular expressions, where these mean the same; the rest is
``linear_matching``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from pubcheck.postgres.budget import Budget
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import lower
from pubcheck.postgres.executor.functions import Call, Function, Maker, evaluation_error
from pubcheck.postgres.executor.linear_matching import Choice, Edge, One, Part, Repeated, Row, Search, like


def escaped_pattern(pattern: str, escape: str) -> str:
    """like_escape: the pattern with a backslash for its escape character."""
    if len(escape) > 1:
        raise evaluation_error("22025", "invalid escape string", hint="Escape string must be empty or one character.")
    if escape == "\\":
        return pattern
    if not escape:
        return pattern.replace("\\", "\\\\")
    parts, after = [], False
    for char in pattern:
        if char == escape and not after:
            parts.append("\\")
            after = True
        elif char == "\\":
            parts.append("\\" if after else "\\\\")
            after = False
        else:
            parts.append(char)
            after = False
    return "".join(parts)


def _like(negated: bool, folding: bool) -> Maker:
    def make(call: Call) -> Function:
        context, collation = call.context, call.collation

        def test(text: str, pattern: str) -> bool:
            if folding:
                text, pattern = lower(context, collation, text), lower(context, collation, pattern)
            return like(text, pattern, context.budget) is not negated

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


_GREATEST_DEPTH = 50
_LONGEST = 10_000
_LONG_EXAMPLE = 10_000


class _Regex:
    """Reads an advanced regular expression, and builds texts that it matches.

    ``ascii``: its meaning depends on classes of other characters. Every part comes with an example text.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.ascii = False
        self.examples: list[str] = []
        """A text for each of the alternatives."""

    def unknown(self) -> Unknowable:
        shown = self.pattern if len(self.pattern) <= 100 else f"{self.pattern[:100]}..."
        return Unknowable(f'what the regular expression "{shown}" matches')

    def peek(self, ahead: int = 0) -> str:
        return self.pattern[self.at + ahead : self.at + ahead + 1]

    def read(self) -> Part:
        """Parse the pattern. Raises Unknowable for unsupported and for invalid patterns."""
        if self.pattern.startswith(("***", "(?")) or len(self.pattern) > _LONGEST:
            raise self.unknown()
        part, self.examples = self.alternatives(0)
        if self.at != len(self.pattern):
            raise self.unknown()
        return part

    def alternatives(self, depth: int) -> tuple[Part, list[str]]:
        if depth > _GREATEST_DEPTH:
            raise self.unknown()
        branches: list[list[Part]] = [[]]
        examples = [""]
        while char := self.peek():
            if char == ")":
                if not depth:
                    raise self.unknown()
                break
            if char == "|":
                self.at += 1
                branches.append([])
                examples.append("")
                continue
            atom, example = self.atom(char, depth)
            if isinstance(atom, Edge):
                # A constraint takes no quantifier.
                if self.peek() and self.peek() in "*+?{":
                    raise self.unknown()
                branches[-1].append(atom)
                continue
            low, high = self.quantifier()
            branches[-1].append(atom if low == high == 1 else Repeated(atom, low, high))
            # At the least once where that is allowed.
            times = low if high is not None and high <= 1 and low else max(low, 1)
            if len(examples[-1]) + len(example) * times > _LONG_EXAMPLE:
                raise self.unknown()
            examples[-1] += example * times
        rows = [Row(tuple(branch)) for branch in branches]
        return rows[0] if len(rows) == 1 else Choice(tuple(rows)), examples

    def atom(self, char: str, depth: int) -> tuple[Part, str]:
        self.at += 1
        if char in "^$":
            return Edge(char == "$"), ""
        if char == ".":
            return One("."), "x"
        if char in "*+?" or (char == "{" and self.peek().isdecimal()):
            raise self.unknown()
        if char == "(":
            if self.pattern.startswith("?:", self.at):
                self.at += 2
            elif self.peek() == "?":
                raise self.unknown()
            inner, examples = self.alternatives(depth + 1)
            if self.peek() != ")":
                raise self.unknown()
            self.at += 1
            return inner, examples[0]
        regex, example = self.bracket() if char == "[" else self.escape() if char == "\\" else (re.escape(char), char)
        return One(regex), example

    def escape(self) -> tuple[str, str]:
        char = self.peek()
        self.at += 1
        if char in _SHORTHANDS:
            self.ascii = True
            return _SHORTHANDS[char], _MEMBERS[char]
        if char in _ESCAPED:
            return _ESCAPED[char], " "
        if not char or char.isalnum():
            raise self.unknown()
        return re.escape(char), char

    def quantifier(self) -> tuple[int, int | None]:
        """Return the smallest and the largest number of repetitions of an atom."""
        char = self.peek()
        bounds: tuple[int, int | None] | None = None
        if char and char in "*+?":
            bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
            self.at += 1
        elif char == "{":
            match = _BOUND.match(self.pattern, self.at)
            if match is None:
                if self.peek(1).isdecimal():
                    raise self.unknown()
                return 1, 1
            low, high = int(match[1]), int(match[3]) if match[3] else None
            if max(low, high or 0) > _GREATEST_BOUND or (high is not None and high < low):
                raise self.unknown()
            bounds = low, high if match[2] else low
            self.at = match.end()
        if bounds is not None:
            if self.peek() == "?":
                self.at += 1
            following = self.peek()
            if following in ("*", "+", "?") or (following == "{" and self.peek(1).isdecimal()):
                raise self.unknown()
        return bounds or (1, 1)

    def bracket(self) -> tuple[str, str]:
        parts: list[str] = []
        example = ""
        negated = self.peek() == "^"
        self.at += negated
        first = True
        while True:
            char = self.peek()
            if not char:
                raise self.unknown()
            if char == "]" and not first:
                self.at += 1
                break
            first = False
            if char == "[" and self.peek(1) in (":", ".", "="):
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
        char = self.peek()
        self.at += 1
        if char == "[" and self.peek() in (":", ".", "="):
            raise self.unknown()
        if char != "\\":
            return char, ""
        char = self.peek()
        self.at += 1
        if char in ("d", "w", "s"):
            self.ascii = True
            return _SHORTHANDS[char][1:-1], char
        if not char or char.isalnum():
            raise self.unknown()
        return char, ""


_MEMBERS = {"d": "1", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}


def texts_matching(pattern: str) -> list[str]:
    """Texts that a regular expression should match; none of one that is not followed."""
    regex = _Regex(pattern)
    try:
        regex.read()
    except Unknowable:
        return []
    return regex.examples[:4]


@lru_cache(maxsize=256)
def _compiled(pattern: str, folding: bool) -> tuple[Search, bool]:
    """The search and whether it is only certain of texts in ASCII. Raises Unknowable."""
    regex = _Regex(pattern)
    part = regex.read()
    flags = re.DOTALL | (re.IGNORECASE | re.ASCII if folding else re.DOTALL)
    return Search(part, flags), regex.ascii or folding


def search(pattern: str, folding: bool, text: str, budget: Budget) -> bool:
    """Return whether a regular expression matches anything in a text. Raises Unknowable."""
    matcher, ascii_only = _compiled(pattern, folding)
    if ascii_only and not (text.isascii() and pattern.isascii()):
        raise Unknowable("the classes of characters under the database's collation")
    return matcher(text, budget)


def spans(pattern: str, folding: bool, text: str, start: int, budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield where each match begins and ends, from an offset on: the leftmost and longest, as of a pattern whose
    quantifiers are greedy. After an empty match the search goes on one character later. Raises Unknowable.
    """
    matcher, ascii_only = _compiled(pattern, folding)
    if ascii_only and not (text.isascii() and pattern.isascii()):
        raise Unknowable("the classes of characters under the database's collation")
    while start <= len(text):
        end = matcher.longest(text, start, budget)
        if end is None:
            start += 1
            continue
        yield start, end
        start = end if end > start else end + 1


def _regex(negated: bool, folding: bool) -> Maker:
    def make(call: Call) -> Function:
        budget = call.context.budget
        return lambda text, pattern: search(pattern, folding, text, budget) is not negated

    return make


def _regexp_like(call: Call) -> Function:
    def test(text: str, pattern: str, flags: str = "") -> bool:
        if flags.strip("i"):
            raise Unknowable("a regular expression with flags")
        return search(pattern, "i" in flags, text, call.context.budget)

    return test


def similar_pattern(pattern: str, escape: str = "\\") -> str:
    """similar_escape_internal: SQL's pattern as a regular expression; those with separators are not followed."""
    if len(escape) > 1:
        raise evaluation_error("22025", "invalid escape string", hint="Escape string must be empty or one character.")
    parts, after, bracket, place = ["^(?:"], False, False, 0
    for char in pattern:
        if after:
            if char == '"' and not bracket:
                raise Unknowable("a SIMILAR TO pattern with separators")
            parts.append("\\" + char)
            after = False
        elif escape and char == escape:
            after = True
        elif bracket:
            if char == "\\":
                parts.append("\\")
            parts.append(char)
            place += 1
            if char == "[":
                raise Unknowable("a SIMILAR TO pattern with classes of characters")
            if char == "]" and place > 1:
                bracket = False
            elif char == "^" and place == 1:
                place = 0
        elif char == "[":
            parts.append(char)
            bracket, place = True, 0
        elif char == "%":
            parts.append(".*")
        elif char == "_":
            parts.append(".")
        elif char == "(":
            parts.append("(?:")
        elif char in "\\.^$":
            parts.append("\\" + char)
        else:
            parts.append(char)
    return "".join((*parts, ")$"))


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
    "regexp_like(text,text)": _regexp_like,
    "regexp_like(text,text,text)": _regexp_like,
    "similar_to_escape(text)": lambda call: similar_pattern,
    "similar_to_escape(text,text)": lambda call: similar_pattern,
    "similar_escape(text,text)": lambda call: _similar_escape,
}
