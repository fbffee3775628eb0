"""Recognise scripts that are written for another database: by its syntax, and by the share of refused statements."""

from __future__ import annotations

from pubcheck.checks.ddl.dialects import dialect
from pubcheck.lexing.items import Statement
from pubcheck.lexing.placeholder_values import filled, placeholder_names
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.source import Source

_TRIED = 60
"""Statements that are tried to see how many of them the grammar refuses."""
_SHARE = 4
"""If a script has the syntax of another database, one refused statement in four is enough. If it has none, three in
four must be refused."""
_FEW = 4
"""Statements that must be refused where there are no marks."""


def foreign(source: Source) -> tuple[str, int] | None:
    """The database that a source is written for, "" if it cannot be known, and where that shows; None where it may be
    PostgreSQL.

    A statement about publications that PostgreSQL can read speaks for PostgreSQL whatever else is there.
    """
    dialect_place = dialect(source.text)
    tried = refused = 0
    first = 0
    speaks = "publication" in source.text.lower()
    splitter = Splitter(source)
    for item in splitter:
        if not isinstance(item, Statement) or item.keyword in ("insert", "select", "update", "delete", "copy"):
            continue
        if dialect_place is None and (item.variables or placeholder_names(item)):
            continue  # with its values it may be anything
        about = speaks and "publication" in item.text[:2000].lower()
        if tried >= _TRIED and not about:
            if not speaks:
                break
            continue
        tried += 1
        try:
            parse(item.sql)
        except TooDeep:
            continue
        except SyntaxRefused:
            if not _may_be_filled(item):
                first = item.start if not refused else first
                refused += 1
                splitter.recover(item)
                continue
        if about and item.keyword in ("create", "alter", "drop"):
            return None
    if dialect_place is not None:
        return dialect_place if refused and refused * _SHARE >= tried else None
    mostly = refused >= _FEW and refused * _SHARE >= tried * (_SHARE - 1)
    return ("", first) if mostly else None


def _may_be_filled(item: Statement) -> bool:
    """Return whether the grammar takes a statement with something in the place of its placeholders."""
    for text in filled(item):
        try:
            parse(text)
        except (SyntaxRefused, TooDeep):
            continue
        return True
    return False
