"""Painting a text of the same length: what is kept, what is put in its place, and blanks for the rest. And whether a
file of SQL may need it: plain text searches decide whether it may contain anything but SQL."""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.lazy_regex import lazy_compile
from pubcheck.lexing.items import blank


def joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return spans in order, overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


class Canvas:
    """A blank sheet of a text's length, on which pieces of the same length are put, in any order, each in its place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[tuple[int, str]] = []

    def keep(self, start: int, end: int) -> None:
        """Keep the text."""
        if end > start:
            self._pieces.append((start, self._text[start:end]))

    def put(self, start: int, piece: str) -> None:
        """A piece with the line ends of what it replaces."""
        if piece:
            self._pieces.append((start, piece))

    def end_statement(self, offset: int) -> None:
        """Write a semicolon at the first offset from ``offset`` on that is not a line end."""
        while offset < len(self._text) and self._text[offset] in "\r\n":
            offset += 1
        if offset < len(self._text):
            self._pieces.append((offset, ";"))

    def text(self) -> str:
        """Return the sheet. Of pieces that overlap the earlier one is left whole."""
        out: list[str] = []
        copied_to = 0
        for start, piece in sorted(self._pieces, key=lambda positioned: positioned[0]):
            if start < copied_to:
                piece = piece[copied_to - start :]
                start = copied_to
                if not piece:
                    continue
            out += (blank(self._text[copied_to:start]), piece)
            copied_to = start + len(piece)
        out.append(blank(self._text[copied_to:]))
        return "".join(out)


def ascending(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, without those within another one."""
    apart: list[tuple[int, int]] = []
    for span in sorted(spans):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


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
