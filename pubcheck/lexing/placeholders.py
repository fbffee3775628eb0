"""Placeholders of templates and format strings in SQL that the grammar refuses.

Asked only of refused statements: all of these marks mean something in PostgreSQL, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MARK = re.compile(r"[{%@<][^\s'\"]|\?\?")
"""The start of a possible placeholder."""

_TOKEN = re.compile(
    r"(?P<skipped>(?<!\w)[eE]'(?:[^'\\]++|\\.|'')*+'?|'(?:[^']++|'')*+'?|\"[^\"]*+\"?|--[^\n]*+"
    r"|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?+)"
    r"|%(?:\(\w+\)[a-zA-Z]|\[\d+\][a-zA-Z]|\d+\$[a-zA-Z]|\{\w+\}|<\w+>[a-zA-Z]|[sqvdIL](?!\w))|\?\?"
    r"|\$?\{\{[^{}\n]*+\}\}|\$?\{[^{}\n]*+\}|@\w+@|<[A-Za-z_][\w -]*+>",
    re.DOTALL,
)
_WORD = re.compile(r"[\w$]+\Z|[\")]\Z")
# After these words, and after all that is not a word, comes a name or an expression.
_NAME_FOLLOWS = (
    " publication table only schema in for add set drop exists to from where and or not by on as select with "
    "references index column constraint rename owner identity using join into update values key "
)


def guessed(sql: str) -> list[tuple[int, int]]:
    """Return the spans of what looks like placeholders outside of quotes and comments, ascending."""
    if MARK.search(sql) is None:
        return []
    return [match.span() for match in _TOKEN.finditer(sql) if match.lastgroup is None]


def clauses(sql: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans where a clause may be and a name may not: after a name or a closing bracket."""
    clause_spans = []
    for start, end in spans:
        stretch = sql[max(0, start - 80) : start]
        before = stretch.rstrip()
        word = _WORD.search(before)
        if word is None:
            continue
        # Next to a word it is part of the word, unless that one is whole without it.
        apart = before != stretch or word[0].lower() in ("tables", ")")
        if apart and f" {word[0].lower()} " not in _NAME_FOLLOWS:
            clause_spans.append((start, end))
    return clause_spans
