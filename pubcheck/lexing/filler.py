"""Text of the same length in the place of another text."""

from __future__ import annotations

import re

_SOLID = re.compile(r"[^\r\n]+")


def blank(text: str) -> str:
    """Return blanks of a text's length, with its line ends."""
    return _SOLID.sub(lambda match: " " * len(match[0]), text)


def padded(text: str, content: str) -> str:
    """Return ``content`` after blanks in the place of ``text``, with the line ends of ``text``.

    ``content`` has no line end and at most the length of ``text``.
    """
    if "\n" not in text and "\r" not in text:
        return content.rjust(len(text))
    room = blank(text)
    line = max(room.rfind("\n"), room.rfind("\r")) + 1
    if len(room) - line >= len(content):
        return room[:line] + content.rjust(len(room) - line)
    # More than the last line holds: the first one that has the room, or else nothing.
    for match in _SOLID.finditer(room):
        if len(match[0]) >= len(content):
            return room[: match.end() - len(content)] + content + room[match.end() :]
    return room


_NO_LETTER = re.compile(r"[^A-Za-z0-9_]")


def filler(placeholder: str) -> str:
    """Return a name as long as a placeholder, to replace it: the same name for the same placeholder. Of one that goes
    over several lines these stay, and the name is short."""
    if "\n" in placeholder or "\r" in placeholder:
        return padded(placeholder, "__")
    return "_" + _NO_LETTER.sub("_", placeholder[1:])
