"""The ends of quotes, dollar quotes and comments in a text, also if they are not closed."""

from __future__ import annotations

from pubcheck.lexing.lexical import (
    B_OR_X_PREFIX,
    COMMENT_MARK,
    DOLLAR_QUOTE,
    DOLLAR_QUOTES,
    E_PREFIX,
    ESCAPE,
    ESCAPED,
    ESCAPED_CONTINUED,
    NAME_REST,
    NAME_START,
    U_PREFIX,
    UNESCAPED,
)
from pubcheck.lexing.standard_conforming_strings import Conforming


class TokenEnds:
    """The ends of a text's tokens. Searches that failed are remembered, so that all of them take linear time."""

    def __init__(self, text: str, strings: Conforming) -> None:
        """``strings`` says whether a backslash escapes in an ordinary literal."""
        self._text, self._strings = text, strings
        # No "*/" from this offset on; no end for this comment; the last place of each tag.
        self._no_comment_end = self._endless_comment = len(text)
        self._last_dollar_quote: dict[str, int] | None = None

    def literal(self, pos: int, limit: int, edits: list[tuple[int, str]]) -> int:
        """Return the end of the literal whose quote is at ``pos``, all its parts if an E'' goes on in a later line."""
        text = self._text
        if pos and E_PREFIX.match(text, pos - 1):
            match = ESCAPED_CONTINUED.match(text, pos, limit)
        elif (
            self._strings.on
            or (pos and B_OR_X_PREFIX.match(text, pos - 1))
            or (pos > 1 and U_PREFIX.match(text, pos - 2))
        ):
            match = UNESCAPED.match(text, pos, limit)
        else:
            match = ESCAPED.match(text, pos, limit)
            if match is not None:
                escapes = ESCAPE.finditer(text, pos, match.end())
                edits.extend((escape.start(), "''") for escape in escapes if escape[0] == "\\'")
        return match.end() if match is not None else limit

    def dollar(self, pos: int, limit: int) -> int:
        """Return the end of what begins with the dollar sign at ``pos``: a quote, the rest of a name, or the sign
        alone."""
        text = self._text
        first = pos
        while first and text[first - 1] != "$" and NAME_REST.match(text, first - 1, first).end() == first:  # type: ignore[union-attr]
            first -= 1
        if first < pos and NAME_START.match(text, first):
            return NAME_REST.match(text, pos, limit).end()  # type: ignore[union-attr]
        opened = DOLLAR_QUOTE.match(text, pos)
        if opened is None:
            return pos + 1
        tag = opened[0]
        if self._last_dollar_quote is not None and self._last_dollar_quote.get(tag, -1) < opened.end():
            return limit
        closed = text.find(tag, opened.end())
        if closed >= 0:
            return closed + len(tag)
        if self._last_dollar_quote is None:
            # One scan of the text finds the last quote of every tag.
            self._last_dollar_quote = {"$" + quote[1]: quote.start() for quote in DOLLAR_QUOTES.finditer(text)}
        return limit

    def comment(self, pos: int) -> int:
        """Return the end of the comment that begins at ``pos``, comments in it counted; -1 if it has none."""
        text = self._text
        if pos >= self._no_comment_end or pos == self._endless_comment:
            return -1
        end = text.find("*/", pos + 2)
        if end < 0:
            self._no_comment_end = pos
            return -1
        if pos > self._endless_comment or text.find("/*", pos + 2, end + 1) < 0:
            return end + 2
        depth = 1
        for mark in COMMENT_MARK.finditer(text, pos + 2):
            depth += 1 if mark[0] == "/*" else -1
            if depth == 0:
                return mark.end()
        # Everything from here on is refused. The author thought that comments do not nest: recovery assumes
        # this for the comments that follow, and need not search as far as this for the end of each.
        self._endless_comment = pos
        return -1
