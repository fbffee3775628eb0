"""Text of the same length in the place of another text."""

from __future__ import annotations

import re

_SOLID = re.compile(r"[^\r\n]+")


def blank(text: str) -> str:
    """Blanks in the place of a text; its line ends stay."""
    return _SOLID.sub(lambda found: " " * len(found[0]), text)


def padded(text: str, given: str) -> str:
    """Return ``given`` after blanks in the place of ``text``, with the line ends of ``text``.

    ``given`` has no line end and at most the length of ``text``.
    """
    if "\n" not in text and "\r" not in text:
        return given.rjust(len(text))
    room = blank(text)
    line = max(room.rfind("\n"), room.rfind("\r")) + 1
    if len(room) - line >= len(given):
        return room[:line] + given.rjust(len(room) - line)
    # More than the last line holds: the first one that has the room, or else nothing.
    for found in _SOLID.finditer(room):
        if len(found[0]) >= len(given):
            return room[: found.end() - len(given)] + given + room[found.end() :]
    return room


_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")


def filler(placeholder: str) -> str:
    """Return a name as long as a placeholder, to replace it: the same name for the same placeholder. Of one that goes
    over several lines these stay, and the name is short."""
    if "\n" in placeholder or "\r" in placeholder:
        return padded(placeholder, "__")
    return "_" + _NO_LETTER.sub("_", placeholder[1:])
