"""Decide by plain text searches, for every file of SQL, whether it may contain anything but SQL."""

from __future__ import annotations

from pubcheck.lazy_regex import lazy_compile

LFS = "version https://git-lfs.github.com/spec/"
"""The beginning of a Git LFS pointer."""

_WAYS_BACK = (
    "+goose Down",
    "+goose DOWN",
    "+goose down",
    "migrate:down",
    "+migrate Down",
    "+migrate down",
    "own Migration",
    "own migration",
    "@UNDO",
    "drop below",
    "!Downs",
    "+micrate Down",
    "rambler down",
    "==== DOWN",
)
_WORDS = ("DOWN", "p below")
_LETTERS = lazy_compile(r"own(?<=[Dd]own)")
"""Every one of these marks has one of these words except for `@UNDO`."""
_BRACE = lazy_compile(r"\{(?:[{%#]|(?<=[$#]\{))")
"""The beginnings of placeholders, except for `<%`. Searching for one letter and looking around it takes a fifth of the
time of searches for all pairs of letters."""


def marked_rollback(text: str) -> bool:
    """Return whether there is anything to look at more closely."""
    return of_template(text) or announces_rollback(text) or of_liquibase(text) or text.startswith(LFS)


def announces_rollback(text: str) -> bool:
    """Return whether a text may hold a migration's way back."""
    if any(word in text for word in _WORDS) or ("own" in text and _LETTERS.search(text) is not None):
        return any(mark in text for mark in _WAYS_BACK)
    return "@" in text and "@UNDO" in text


def of_liquibase(text: str) -> bool:
    """Return whether a text is Liquibase's formatted SQL."""
    return text.find("liquibase formatted", 0, 4000) >= 0


def of_template(text: str) -> bool:
    """Return whether a text may be a template."""
    return ("{" in text and _BRACE.search(text) is not None) or ("<" in text and "<%" in text)
