"""A refused statement as tokens and items, for the fixes that rewrite it."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import folded, name_end, tokens


class Token(Struct, frozen=True):
    kind: str
    word: str
    start: int
    end: int
    name: str


def tokens_of(text: bytes) -> list[Token]:
    """Return the tokens of a statement, without the semicolons at its end."""
    listed = []
    for kind, token, offset in tokens(text):
        name = folded(token) if kind == "name" else ""
        listed.append(Token(kind, token.decode(errors="replace").lower(), offset, offset + len(token), name))
    while listed and listed[-1].word == ";":
        listed.pop()
    return listed


class Item(Struct, frozen=True):
    """The tokens between two commas. ``before`` is the offset of the comma before them, or their own start."""

    before: int
    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


class RefusedStatement:
    """A refused statement: its tokens, what the server says, and the state that it met."""

    def __init__(self, session: Session, error: ServerError, text: bytes) -> None:
        self.session, self.error, self.text = session, error, text
        self.tokens = tokens_of(text)
        self.culprit = error.culprit or 0

    def word(self, index: int) -> str:
        return self.tokens[index].word if 0 <= index < len(self.tokens) else ""

    def closing(self, opening: int) -> int:
        """The number of the token that closes the parenthesis at a number."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            depth += (self.word(index) == "(") - (self.word(index) == ")")
            if depth == 0:
                return index
        return len(self.tokens) - 1

    def items(self, first: int, last: int) -> list[Item]:
        """Return the items between commas, from the token number ``first`` up to ``last``."""
        items: list[Item] = []
        part: list[Token] = []
        before, depth = self.tokens[first].start if first < len(self.tokens) else 0, 0
        for token in [*self.tokens[first:last], Token("other", ",", 0, 0, "")]:
            depth += (token.word == "(") - (token.word == ")")
            if token.word == "," and depth <= 0:
                if not part:
                    return []
                items.append(Item(before, tuple(part)))
                before, part = token.start, []
            else:
                part.append(token)
        return items

    def group_around(self, byte: int) -> list[Item]:
        """The items of the innermost parentheses around a byte offset."""
        opening: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.start >= byte:
                break
            if token.word == "(":
                opening.append(number)
            elif token.word == ")" and opening:
                opening.pop()
        return self.items(opening[-1] + 1, self.closing(opening[-1])) if opening else []

    def options(self) -> list[Item]:
        """The options of WITH (...), or of SET (...)."""
        for number, token in enumerate(self.tokens):
            if token.word in ("with", "set") and self.word(number + 1) == "(":
                return self.items(number + 2, self.closing(number + 1))
        return []

    def option(self) -> tuple[str, tuple[Token, ...]] | None:
        """Return the name and the value of the refused option."""
        for item in self.options():
            if item.start <= self.culprit < item.end:
                return item.tokens[0].name, item.tokens[2:]
        return None

    def name_at_fault(self) -> list[Token]:
        """Return the parts of the refused (qualified) name."""
        end = name_end(self.text, self.culprit)
        return [token for token in self.tokens if self.culprit <= token.start < end and token.kind == "name"]

    def objects(self) -> list[Item]:
        """The tables and schemas that ALTER PUBLICATION adds or drops."""
        for number, token in enumerate(self.tokens[:5]):
            if token.word in ("add", "drop", "set"):
                return self.items(number + 1, len(self.tokens))
        return []
