"""Whether a script with refused statements is written for another database: its marks, and how much is refused."""

from __future__ import annotations

from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.sources.dialects import dialect
from pubcheck.sources.statements import Splitter, Statement
from pubcheck.sources.text import Source

_TRIED = 60
"""Statements that are tried to see how many of them the grammar refuses."""
_SHARE = 4
"""One refused in so many is enough, with marks of another database."""


def foreign(source: Source) -> tuple[str, int] | None:
    """The database that a source is written for, and where that shows; None where it may be PostgreSQL.

    A statement about publications that PostgreSQL can read speaks for PostgreSQL whatever else is there.
    """
    found = dialect(source.text)
    if found is None:
        return None
    tried = refused = 0
    speaks = "publication" in source.text.lower()
    splitter = Splitter(source)
    for item in splitter:
        if not isinstance(item, Statement) or item.keyword in ("insert", "select", "update", "delete", "copy"):
            continue
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
                refused += 1
                splitter.recover(item)
                continue
        if about and item.keyword in ("create", "alter", "drop"):
            return None
    return found if refused and refused * _SHARE >= tried else None


def _may_be_filled(item: Statement) -> bool:
    """Whether the grammar takes a statement with something in the place of its placeholders."""
    for text in item.filled():
        try:
            parse(text)
        except (SyntaxRefused, TooDeep):
            continue
        return True
    return False
