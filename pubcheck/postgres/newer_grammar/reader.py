"""A statement's tokens, read one after the other; what they may be is up to the caller."""

from __future__ import annotations

import itertools
from typing import NoReturn

from pubcheck.lexing.lexical import RESERVED
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.parse_tree import move_locations
from pubcheck.postgres.tokens import in_characters, tokens

_MOST_PARTS = 3
"""Parts of a qualified name: database, schema and relation."""


def words_of(data: bytes, count: int) -> list[bytes]:
    """Return the first tokens of a text in lower case."""
    return [token.lower() for _, token, _ in itertools.islice(tokens(data), count)]


def _with_escapes(data: bytes) -> list[tuple[str, bytes, int]]:
    """Return the tokens of a text. U&"..." UESCAPE '.' is one of them, as it is to the server's grammar."""
    items: list[tuple[str, bytes, int]] = []
    for item in tokens(data):
        items.append(item)
        if len(items) > 2 and items[-2][1].lower() == b"uescape" and items[-3][1][:3].lower() == b'u&"':
            kind, _, start = items[-3]
            items[-3:] = [(kind, data[start : item[2] + len(item[1])], start)]
    return items


class Reader:
    """Reads the tokens of a statement, and raises SyntaxRefused as the server's parser does."""

    def __init__(self, data: bytes, *, keep_semicolons: bool = False) -> None:
        self.data = data
        self.tokens = [item for item in _with_escapes(data) if keep_semicolons or item[1] != b";"]
        self.next = 0
        """The number of the next token."""

    @property
    def at_end(self) -> bool:
        return self.next >= len(self.tokens)

    @property
    def offset(self) -> int:
        """The byte offset of the next token, or of the end of the text."""
        return len(self.data) if self.at_end else self.tokens[self.next][2]

    @property
    def end(self) -> int:
        """The byte offset behind the token that was read last."""
        _, token, offset = self.tokens[min(self.next, len(self.tokens)) - 1]
        return offset + len(token)

    def sees(self, *words: bytes) -> bool:
        """Return whether the next tokens are these words."""
        following = self.tokens[self.next : self.next + len(words)]
        return tuple(token.lower() for _, token, _ in following) == words

    def follows(self, token: bytes) -> bool:
        """Return whether the token that was read last is this one."""
        return self.next > 0 and self.tokens[self.next - 1][1] == token

    def accept(self, *words: bytes) -> bool:
        """Read these words if they are next."""
        if not self.sees(*words):
            return False
        self.next += len(words)
        return True

    def expect(self, word: bytes) -> None:
        if not self.accept(word):
            self.refuse()

    def skip_until(self, *words: bytes) -> None:
        """Read on to the first of these words that is outside parentheses, or to the one that closes those around."""
        depth = 0
        while not self.at_end:
            token = self.tokens[self.next][1].lower()
            if depth == 0 and (token in words or token == b")"):
                return
            depth += (token == b"(") - (token == b")")
            self.next += 1

    def refuse(self) -> NoReturn:
        """Raise the syntax error at the next token."""
        if self.at_end:
            raise SyntaxRefused("syntax error at end of input", None)
        shown = self.tokens[self.next][1].decode(errors="replace")
        raise self.refusal(f'syntax error at or near "{shown}"', self.offset)

    def refusal(self, message: str, offset: int, detail: str | None = None) -> SyntaxRefused:
        """Return an error at a byte offset."""
        return SyntaxRefused(message, in_characters(self.data, offset), detail=detail)

    def name(self) -> None:
        """Read a ColId: an identifier that is not a reserved word."""
        kind, token, start = ("", b"", 0) if self.at_end else self.tokens[self.next]
        if kind != "name" or token.lower().decode(errors="replace") in RESERVED:
            self.refuse()
        self._read_identifier(token, start)

    def _read_identifier(self, token: bytes, start: int) -> None:
        self.next += 1
        if token == b'""' or token[1:2] == b"&":
            # Its escapes may be refused.
            self.range_vars([(start, self.end)])

    def qualified_name(self) -> Node:
        """Read a qualified_name, and return its RangeVar."""
        start = self.offset
        self._dotted_name()
        return self.range_vars([(start, self.end)])[0]

    def relation(self) -> tuple[int, int]:
        """Read a relation_expr, and return its byte offsets."""
        start = self.offset
        if not self.accept(b"only"):
            self._dotted_name()
            self.accept(b"*")
        elif self.accept(b"("):
            self._dotted_name()
            self.expect(b")")
        else:
            self._dotted_name()
        return start, self.end

    def _dotted_name(self) -> None:
        start, parts = self.offset, 1
        self.name()
        while self.accept(b"."):
            # Behind a dot any word is a name.
            if self.at_end or self.tokens[self.next][0] != "name":
                self.refuse()
            self._read_identifier(*self.tokens[self.next][1:])
            parts += 1
        if parts > _MOST_PARTS:
            self.range_vars([(start, self.end)])

    def range_vars(self, spans: list[tuple[int, int]]) -> list[Node]:
        """Return the RangeVars of relations between byte offsets. Raises SyntaxRefused for one with too many dots."""
        text, end = b"LOCK TABLE ", spans[0][0]
        pieces = [text, b" " * (end - len(text))]
        for start, after in spans:
            if start > end:
                pieces += (b",", b" " * (start - end - 1))
            pieces.append(self.data[start:after])
            end = after
        statement = parse(b"".join(pieces).decode(errors="surrogatepass"))
        assert statement is not None
        return [item["RangeVar"] for item in statement[1]["relations"]]

    def parsed(self, head: bytes, start: int, end: int, tail: bytes = b"") -> tuple[str, Node]:
        """Parse ``head`` followed by a piece of the text and ``tail``; locations are those of the text.

        Raises SyntaxRefused.
        """
        text = head + b" " * (start - len(head)) + self.data[start:end] + tail
        shift = max(0, len(head) - start)
        try:
            statement = parse(text.decode(errors="surrogatepass"))
        except SyntaxRefused as refusal:
            if shift and refusal.location is not None:
                refusal.location -= shift
            raise
        assert statement is not None
        if shift:
            move_locations(statement[1], -shift)
        return statement
