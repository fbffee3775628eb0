"""Placeholders of templates and format strings in SQL, and substitutes for them and for variables.

Used only for statements that contain variables or that the grammar refuses: all of these marks mean something in
PostgreSQL, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pubcheck.lexing.items import Statement, edited, filler, replaced
from pubcheck.lexing.lexical import NAME_REST, NAME_START, RESERVED

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


def _clauses(sql: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
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


#


def filled(statement: Statement) -> Iterator[str]:
    """Return the possible texts for the server, with a value in place of each unknown one, the likeliest first."""
    sql = replaced(
        statement.sql, [(start, _placeholder_name(statement.sql, start, end)) for start, end in statement.variables]
    )
    guesses = guessed(sql)
    if statement.variables or guesses:
        sql = replaced(sql, [(start, filler(sql[start:end])) for start, end in guesses])
        yield edited(sql, statement.edits)
    if statement.variables:
        # A variable may hold a literal, quotes and all, unless it is part of a name.
        literals = [
            (
                start,
                _placeholder_name(statement.sql, start, end)
                if _in_name(statement.sql, start)
                else f"'{'_' * (end - start - 2)}'",
            )
            for start, end in statement.variables
        ]
        yield edited(replaced(statement.sql, literals), statement.edits)
    sites = sorted({*statement.placeholders, *guesses})
    # A placeholder may represent a whole clause, or nothing.
    optional = _clauses(sql, sites)
    for blanked in (optional, sites) if optional and optional != sites else (sites,) if sites else ():
        yield edited(replaced(sql, [(start, " " * (end - start)) for start, end in blanked]), statement.edits)


def placeholder_names(statement: Statement) -> set[str]:
    """Return the names that ``filled`` and views substitute for unknown text, and the text that they replace."""
    names = set()
    for start, end in (*statement.placeholders, *guessed(statement.sql)):
        written = statement.sql[start:end]
        names |= {_name_around(statement.sql, start, end), filler(written), written}
    return names


def variable_names(statement: Statement) -> frozenset[str]:
    """Return the names that ``filled`` makes of variables."""
    sql = replaced(
        statement.sql, [(start, _placeholder_name(statement.sql, start, end)) for start, end in statement.variables]
    )
    names = (_name_around(sql, start + 1, end).strip('"') for start, end in statement.variables)
    return frozenset(name.lower() for name in names)


def _name_around(sql: str, start: int, end: int) -> str:
    """Return the name that something in it is part of."""
    while start and sql[start - 1] != "$" and NAME_REST.match(sql, start - 1).end() >= start:  # type: ignore[union-attr]
        start -= 1
    return sql[start : NAME_REST.match(sql, end).end()]  # type: ignore[union-attr]


def _in_name(sql: str, start: int) -> bool:
    """Return whether a name goes on there."""
    return bool(start) and NAME_START.match(sql, start - 1) is not None


def _placeholder_name(sql: str, start: int, end: int) -> str:
    """Return the name that fills the place of a variable, of the same length."""
    site = sql[start:end]
    if site[1] in "'\"":
        return " " + site[1:]
    if site[1] == "{":
        return "true".ljust(len(site))
    name = site[1:]
    if _in_name(sql, start):
        return "_" + name  # "part_:year" is one name once the value is in
    if name.lower() in RESERVED:
        return f'"{name[:-1]}"'
    if not NAME_START.match(name) and not name.isdecimal():
        return " _" + name[1:]
    return " " + name
