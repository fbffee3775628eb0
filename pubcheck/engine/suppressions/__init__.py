"""What the user leaves out of the findings: by comments in the files, by file, and by severity.

``comments`` reads the ignore comments, ``severities`` applies the configuration, ``apply`` applies both to a unit.
Loaded only where there is something to leave out.
"""

from __future__ import annotations

MARK = "pubcheck:"
"""What comments begin with that are for pubcheck, in any case."""


def may_hold_comments(text: str) -> bool:
    """Whether a text may hold such comments."""
    return any(mark in text for mark in (MARK, "PUBCHECK:", "Pubcheck:", "PubCheck:"))
