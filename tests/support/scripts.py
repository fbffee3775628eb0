"""The one notation of tests for SQL and what is expected of it.

``-- 42P16`` behind a statement is the SQLSTATE with which all majors refuse it, ``-- 15: 42601, 16: 42601`` that of
those named; the others accept the statement, as all do without a comment. In the scripts of rules a line
``--   ^^^^ PUB301`` marks where the linter reports the rule, as on the rules' pages.
"""

from __future__ import annotations

import re
from contextlib import suppress

from msgspec import Struct
from pglast.parser import ParseError, split

from tools.rulebook.pages import Place, marked_places

Outcome = str | None
"""A statement's SQLSTATE; None when it is accepted."""

_ANSWER = re.compile(r"[ ]*;?[ ]*--[ ]((?:\d\d: )?[0-9A-Z]{5}(?:, \d\d: [0-9A-Z]{5})*)[ ]*(?:\n|$)")


class Statement(Struct, frozen=True):
    """A statement, and the SQLSTATE of each major; "all" is that of every one."""

    sql: str
    answers: dict[str, str]

    def answer(self, major: int) -> Outcome:
        return self.answers.get("all", self.answers.get(str(major)))


def statements(script: str) -> list[Statement]:
    """The statements of a script with what servers answer."""
    read = []
    for part in _slices(script):
        answer = _ANSWER.match(script, part.stop)
        pairs = [pair.rpartition(": ") for pair in answer[1].split(", ")] if answer is not None else []
        read.append(Statement(script[part], {major or "all": state for major, _, state in pairs}))
    return read


def _slices(script: str) -> tuple[slice, ...]:
    for with_parser in (True, False):
        with suppress(ParseError):
            slices: tuple[slice, ...] = split(script, with_parser=with_parser, only_slices=True)
            if slices:
                return slices
    return (slice(0, script.rindex(";")),)  # a quote or a parenthesis is never closed


class RuleScript(Struct, frozen=True):
    """A script of ``tests/rules/<code>.sql``: for which majors, its SQL, and where the rule is reported."""

    title: str
    majors: tuple[int, ...]
    sql: str
    places: tuple[Place, ...]


_TITLE = re.compile(r"^-- # (.+?)(?: \(((?:\d\d(?:, )?)+)\))?\n", re.MULTILINE)


def rule_scripts(text: str, code: str, majors: tuple[int, ...]) -> list[RuleScript]:
    """The scripts of a file: each begins with ``-- # title``, or ``-- # title (15, 16)`` if it is for some majors."""
    before, *parts = _TITLE.split(text)
    assert not before.strip(), f"{code}: a script begins with `-- # title`"
    scripts = []
    for title, only, marked in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        sql, places = marked_places(marked, code)
        scripts.append(RuleScript(title, tuple(map(int, only.split(", "))) if only else majors, sql, places))
    return scripts
