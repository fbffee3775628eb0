"""What SQL may do of which no more is known than its text, or part of it: whether it matters to what is certain."""

from __future__ import annotations

import re

from pubcheck.patterns import pattern_later

HEALING = pattern_later(
    r"replica\s+identity|primary\s+key|drop\s+publication|alter\s+publication\b.*\b(set|drop)\b|unique\s+index",
    re.IGNORECASE | re.DOTALL,
)
"""All that can heal refused writes: text that is not followed must not hold it if they are to stay certain."""
_TAKING = pattern_later(
    r"\bdrop\b|alter\s+publication\b(?:(?!\badd\b).)*?(?:\b(?:set|rename)\b|\Z)", re.IGNORECASE | re.DOTALL
)


def taking(text: str) -> bool:
    """Whether SQL that is not followed may take a publication away, or members from one."""
    return "publication" in text.lower() and _TAKING.search(text) is not None


_WORDING = pattern_later(
    r"(?:'|\$\w*\$)[^']*?\b"
    r"(?:alter|analy[sz]e|call|comment|copy|create|delete|drop|grant|insert|lock|notify|refresh|reindex|revoke|select|set"
    r"|truncate|update|vacuum)\b",
    re.IGNORECASE,
)


def wording(text: str) -> str | None:
    """What is known of SQL that this text puts together; None where not even what kind of statement that is."""
    return text if _WORDING.search(text) is not None else None
