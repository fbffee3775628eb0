"""The first two words of a statement about a publication, misspelt."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.checks.misspelt_names import is_slip

_VERBS = ("create", "alter", "drop")


def misspelt_keyword(words: Sequence[str]) -> tuple[int, str] | None:
    """Return which of a statement's words is misspelt, and its correction; None for neither or both."""
    if len(words) < 2:
        return None
    verb, kind = words[:2]
    if verb in _VERBS and kind != "publication" and is_slip(kind, "publication"):
        return 1, "publication"
    if kind == "publication" and verb not in _VERBS:
        return next(((0, right) for right in _VERBS if is_slip(verb, right)), None)
    return None
