"""Suppress findings: by comments in the files, by file, and by severity.

``comments`` reads the ignore comments, ``severities`` applies the configuration, ``apply`` applies both to a unit.
Loaded only if there is something to suppress.
"""

from __future__ import annotations

MARK = "pubcheck:"
"""The prefix of comments for pubcheck, in any case."""


def may_hold_comments(text: str) -> bool:
    """Return whether a text may hold such comments."""
    return any(mark in text for mark in (MARK, "PUBCHECK:", "Pubcheck:", "PubCheck:"))
