"""Painting a text of the same length: what is kept, what is put in its place, and blanks for the rest."""

from __future__ import annotations

from collections.abc import Iterable

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
