"""Choose the statements to parse: those that may change a catalog, and all that mention publications."""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import Statement
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, VARIABLE
from pubcheck.words import word_set

UNPARSED = word_set("""
    analyse analyze checkpoint close cluster comment copy deallocate declare delete execute explain fetch insert
    listen load lock merge move notify prepare refresh reindex security show table truncate unlisten update vacuum
    values with
""")
"""First words of statements that change no modelled catalog. They are not parsed, and their syntax is not checked.

Only the first word counts, never a later one.
"""

_COMMENT = lazy_compile(r"comment\s+on\s+publication\b", re.IGNORECASE)
_EXPLAINED = lazy_compile(
    r"prepare\s+transaction\b|explain\b(?:(?!\b(?:insert|merge)\b).)*?\b(?:create|into)\b|\w+\b.*?\b(?:create|alter|drop)\s+publication\b",
    re.IGNORECASE | re.DOTALL,
)

_WRITING = ("delete", "insert", "merge", "truncate", "update")
_OF_CATALOG = lazy_compile(
    r"(?:update|delete\s+from|(?:insert|merge)\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:pg_catalog\s*\.\s*)?pg_",
    re.IGNORECASE,
)


def checked_in_any_case(item: Statement) -> bool:
    """Return whether a statement with such a first word is parsed nevertheless.

    That is DML on a pg_ table, EXPLAIN of a statement that creates something, PREPARE TRANSACTION, and COMMENT ON
    PUBLICATION.
    """
    if item.keyword == "comment":
        return _COMMENT.match(item.text) is not None
    if item.keyword in ("explain", "prepare"):
        return _EXPLAINED.match(item.text) is not None
    return item.keyword in _WRITING and _OF_CATALOG.match(item.text) is not None


def is_parsed(item: Statement) -> bool:
    """Return whether a statement is parsed; only then is it known how many an unclosed quote swallowed."""
    return item.keyword not in UNPARSED or checked_in_any_case(item) or item.restartable()


def unknown_reason(item: Statement) -> str:
    """Return why a statement is uncertain: it may not run, or not as written."""
    if item.placeholders:
        return "the part of this statement that is known only at run time"
    return VARIABLE if item.variables else MAY_NOT_RUN


_HEAD = 10_000


def known_text(text: str) -> str | None:
    """Return the beginning of a long statement that is not read; None if its rest may matter."""
    rest = text[_HEAD:].lower()
    return None if any(word in rest for word in ("publication", "identity", "primary", "unique")) else text[:_HEAD]
