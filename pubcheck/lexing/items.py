"""The items of a text that psql reads: SQL statements and backslash commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from pubcheck.lexing.lexical import RESTART


class Statement(Struct, frozen=True, gc=False):
    """One SQL statement.

    ``index`` counts the source's statements from 0. ``start`` is the offset of its first token, ``end`` that after its
    last, without terminator; ``text`` is the text between them. ``keyword`` is its first word in lower case, "" if it
    begins with none.

    ``sql`` is as long as ``text``, and differs where psql or standard_conforming_strings = off change the meaning of
    characters. ``variables`` are the (start, end) offsets in ``text`` where psql would insert a variable's value that
    is unknown. ``edits`` are the (start, end, sent) offsets in ``text`` where the server gets text of another length:
    the known values of variables, and the decoded text of a program's string.

    ``placeholders`` are the offsets where a view inserted a value. ``perhaps``: the file does not say whether and when
    it runs. ``joined``: psql sends it and the next statement as one query.
    """

    index: int
    start: int
    end: int
    text: str
    keyword: str
    sql: str
    variables: tuple[tuple[int, int], ...] = ()
    edits: tuple[tuple[int, int, str], ...] = ()
    placeholders: tuple[tuple[int, int], ...] = ()
    perhaps: bool = False
    joined: bool = False

    def sent(self) -> str:
        """Return the text that the server receives, as far as it is known."""
        return edited(self.sql, self.edits) if self.edits else self.sql

    def restartable(self) -> bool:
        """Return whether a line of it begins as a statement does: a stray quote may then have made one of several."""
        return RESTART.search(self.text) is not None


class PsqlCommand(Struct, frozen=True, gc=False):
    """A backslash command of psql with its arguments: offsets, ``end`` exclusive, and the text between.

    A command within a statement that does not end it comes after that statement, although it starts before its end.
    """

    start: int
    end: int
    text: str


def edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return ``text`` with the spans between ascending offsets replaced."""
    pieces: list[str] = []
    copied_to = 0
    for start, end, new in edits:
        pieces += (text[copied_to:start], new)
        copied_to = end
    pieces.append(text[copied_to:])
    return "".join(pieces)


def replaced(text: str, edits: list[tuple[int, str]]) -> str:
    """``text`` with pieces, each of its old length, at ascending offsets replaced."""
    pieces: list[str] = []
    copied_to = 0
    for start, new in edits:
        pieces += (text[copied_to:start], new)
        copied_to = start + len(new)
    pieces.append(text[copied_to:])
    return "".join(pieces)


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
