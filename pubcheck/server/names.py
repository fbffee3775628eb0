"""The names in a text: which one is at an offset, and everywhere that a name is written."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.postgres.tokens import folded, in_characters, tokens


class Name(Struct, frozen=True):
    """A name, qualified or not: its parts folded as PostgreSQL folds them, and the offsets of its last part."""

    parts: tuple[str, ...]
    start: int
    end: int

    @property
    def last(self) -> str:
        return self.parts[-1]


class Word(Struct, frozen=True):
    """A token with its offsets in code points; ``text`` is folded if it is a name."""

    kind: str
    text: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Word]:
    """Yield the tokens of a text, without blanks and comments. Of a dollar-quoted body, such as a DO block's, those
    inside."""
    data = text.encode(errors="surrogatepass")
    ascii_only = len(data) == len(text)
    for kind, token, offset in tokens(data):
        start = offset if ascii_only else in_characters(data, offset)
        end = offset + len(token) if ascii_only else in_characters(data, offset + len(token))
        if token.startswith(b"$") and kind == "text":
            quote = text.index("$", start + 1) + 1 - start
            shift = start + quote
            for word in words_of(text[shift : end - quote]):
                yield Word(word.kind, word.text, word.start + shift, word.end + shift)
            continue
        yield Word(kind, folded(token) if kind == "name" else token.decode(errors="replace"), start, end)


def names_of(text: str) -> Iterator[Name]:
    """Yield the names of a text, each part of a qualified one with those before it."""
    parts: list[str] = []
    dotted = False
    for word in words_of(text):
        if word.kind == "name":
            parts = [*parts, word.text] if dotted else [word.text]
            yield Name(tuple(parts), word.start, word.end)
            dotted = False
        else:
            dotted = word.text == "." and not dotted and bool(parts)
            if not dotted:
                parts = []


def name_at(text: str, offset: int) -> Name | None:
    """Return the name that an offset is in or at the end of."""
    for name in names_of(text):
        if name.start <= offset <= name.end:
            return name
        if name.start > offset:
            break
    return None
