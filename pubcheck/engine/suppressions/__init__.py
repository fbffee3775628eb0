"""Suppress findings: by comments in the files, by file, and by severity.

``comments`` reads the ignore comments, ``apply`` applies them and the configuration to a unit.
Loaded only if there is something to suppress.
"""

from __future__ import annotations

from functools import lru_cache

from pubcheck.source import Source

MARK = "pubcheck:"
"""The prefix of comments for pubcheck, in any case."""


@lru_cache(maxsize=1)
def may_hold_comments(source: Source) -> bool:
    """Return whether a source may hold such comments. That of a large one is asked more than once."""
    text = source.shown
    if "heck:" not in text and "HECK:" not in text:
        return False
    return any(mark in text for mark in (MARK, "PUBCHECK:", "Pubcheck:", "PubCheck:"))
