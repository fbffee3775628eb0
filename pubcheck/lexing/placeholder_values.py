"""Put substitutes into statements for values of variables and for placeholders, which are unknown.

Used only for statements that contain some or that the grammar refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.lexing.filler import filler
from pubcheck.lexing.items import Statement, edited, replaced
from pubcheck.lexing.keywords import RESERVED
from pubcheck.lexing.lexical import NAME_REST, NAME_START
from pubcheck.lexing.placeholders import clauses, guessed


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
    optional = clauses(sql, sites)
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
