"""Which statements are parsed: those that may change a catalog, and whatever is said of publications."""

from __future__ import annotations

import re

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import Statement
from pubcheck.postgres.catalog.reasons import MAY_NOT_RUN, VARIABLE

UNPARSED = frozenset(
    [
        "analyse",
        "analyze",
        "checkpoint",
        "close",
        "cluster",
        "comment",
        "copy",
        "deallocate",
        "declare",
        "delete",
        "execute",
        "explain",
        "fetch",
        "insert",
        "listen",
        "load",
        "lock",
        "merge",
        "move",
        "notify",
        "prepare",
        "refresh",
        "reindex",
        "security",
        "show",
        "table",
        "truncate",
        "unlisten",
        "update",
        "vacuum",
        "values",
        "with",
    ]
)
"""First words of statements that change no catalog kept here. Their syntax is not checked and they are not parsed; no
word inside a statement is ever looked for."""

_COMMENT = lazy_compile(r"comment\s+on\s+publication\b", re.IGNORECASE)
_EXPLAINED = lazy_compile(
    r"explain\b(?:(?!\b(?:insert|merge)\b).)*?\b(?:create|into)\b|\w+\b.*?\b(?:create|alter|drop)\s+publication\b",
    re.IGNORECASE | re.DOTALL,
)

_WRITING = ("delete", "insert", "merge", "truncate", "update")
_OF_CATALOG = lazy_compile(
    r"(?:update|delete\s+from|(?:insert|merge)\s+into|truncate(?:\s+table)?)\s+(?:only\s+)?(?:pg_catalog\s*\.\s*)?pg_",
    re.IGNORECASE,
)


def checked_in_any_case(item: Statement) -> bool:
    """What writes a pg_ table, the one kind of plain DML that changes catalogs, EXPLAIN of what makes a table, and
    whatever is said of publications."""
    if item.keyword == "comment":
        return _COMMENT.match(item.text) is not None
    if item.keyword in ("explain", "prepare"):
        return _EXPLAINED.match(item.text) is not None
    return item.keyword in _WRITING and _OF_CATALOG.match(item.text) is not None


def is_parsed(item: Statement) -> bool:
    """Whether a statement is parsed. A quote that is not closed may have made one of several, which are then found."""
    return item.keyword not in UNPARSED or checked_in_any_case(item) or item.restartable()


def unknown_of(item: Statement) -> str:
    """What is unknown of a statement that perhaps runs, or not as it is written."""
    if item.placeholders:
        return "part of this statement is only known at run time"
    return VARIABLE if item.variables else MAY_NOT_RUN


_HEAD = 10_000


def known_of(text: str) -> str | None:
    """What is known of a statement that is not read: of a long one its beginning, where the rest does not matter."""
    rest = text[_HEAD:].lower()
    return None if any(word in rest for word in ("publication", "identity", "primary", "unique")) else text[:_HEAD]
