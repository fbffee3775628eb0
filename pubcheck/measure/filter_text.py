"""The text of a publication's statement: a member's filter as its author wrote it."""

from __future__ import annotations

import re

from pubcheck.postgres.tokens import tokens
from pubcheck.source import utf8

_COMMENT_OR_BLANKS = re.compile(
    r"""('(?:[^']++|'')*+'|"(?:[^"]++|"")*+"|\$(?:\w*)\$.*?\$\w*\$)|(?:\s|--[^\n\r]*|/\*.*?\*/)+""", re.DOTALL
)


def condition(statement: str, member: int) -> str | None:
    """The condition of the WHERE that follows a member's name at a byte offset, on one line, without its parentheses;
    None where none is found."""
    text = utf8(statement).data
    depth, begin, where = 0, -1, False
    for kind, token, offset in tokens(text, member):
        if token == b"(":
            if where and depth == 0:
                begin = offset + 1
            depth += 1
        elif token == b")":
            depth -= 1
            if depth == 0 and begin >= 0:
                return one_line(text[begin:offset].decode(errors="replace"))
            if depth < 0:
                return None
        elif depth == 0:
            if token in (b",", b";"):
                return None
            where = kind == "name" and token.lower() == b"where"
    return None


def one_line(sql: str) -> str:
    """SQL without comments and line ends, a blank for each; texts and quoted names stay as they are."""
    return _COMMENT_OR_BLANKS.sub(lambda match: match[1] or " ", sql).strip()
