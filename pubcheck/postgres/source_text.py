"""The text inside a string literal of a statement, and the place of each of its characters in that statement."""

from __future__ import annotations

import re
from bisect import bisect_right

from msgspec import Struct

from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import options
from pubcheck.postgres.tokens import in_characters, tokens

Site = tuple[int, int]
"""(offset in the inner text from which on, offset in the outer one); both in characters."""


class Text(Struct, frozen=True):
    """A text that is within a statement.

    ``sites`` map it to the statement: from the first offset of each site, characters are as in the statement, up to the
    next site. A text that was put together has no sites: it is everything between ``start`` and ``end`` of the
    statement.
    """

    text: str
    sites: tuple[Site, ...] = ()
    start: int = 0
    end: int = 0

    def part(self, start: int, end: int, text: str | None = None) -> Text:
        """Return the text between two offsets; ``text`` replaces it if it reads differently."""
        inner = self.text[start:end] if text is None else text
        if not self.sites:
            return Text(inner, (), self.start, self.end)
        first = bisect_right(self.sites, start, key=_inner) - 1
        sites = [(0, self.sites[first][1] + start - self.sites[first][0])]
        sites += [(inside - start, outside) for inside, outside in self.sites[first + 1 :] if inside < end]
        return Text(inner, tuple(sites), self.outside(start), self.outside(end))

    def outside(self, offset: int) -> int:
        """Return the offset in the statement for an offset in the text."""
        if not self.sites:
            return self.end if offset >= len(self.text) > 0 else self.start
        inside, outside = self.sites[max(0, bisect_right(self.sites, offset, key=_inner) - 1)]
        return outside + offset - inside

    def within(self, literal: Text) -> Text:
        """Return ``literal``, a part of this text, with the offsets of the statement that contains this text."""
        if not literal.sites or not self.sites:
            return Text(literal.text, (), self.outside(literal.start), self.outside(literal.end))
        sites: list[Site] = []
        ends = [inside for inside, _ in literal.sites[1:]] + [len(literal.text) + 1]
        for (inside, outside), end in zip(literal.sites, ends, strict=True):
            sites.append((inside, self.outside(outside)))
            last = outside + end - inside
            sites += [(inside + mine - outside, theirs) for mine, theirs in self.sites if outside < mine < last]
        return Text(literal.text, tuple(sites), self.outside(literal.start), self.outside(literal.end))


def _inner(site: Site) -> int:
    return site[0]


def language_of(node: Node, field: str = "args") -> str:
    """Return the language of a DO statement, whose options are its ``args``, or of CREATE FUNCTION."""
    language = options(node, field).get("language", {})
    name: str = language.get("arg", {}).get("String", {}).get("sval", "plpgsql")
    return name.lower()


def do_body(outer: Text, node: Node) -> Text | None:
    """Return the body of a DO statement in PL/pgSQL with its place; None in another language."""
    source = options(node, "args").get("as")
    if source is None or language_of(node) != "plpgsql":
        return None
    body = literal_at(outer.text, source.get("location", 0), source["arg"]["String"].get("sval", ""))
    return outer.within(body)


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def literal_at(outer: str, byte: int, value: str) -> Text:
    """Return the string literal that begins at or after a byte offset and whose value is ``value``.

    If it cannot be read (continued on the next line, U&'...') or is not found, the whole statement is returned.
    """
    data = outer.encode(errors="surrogatepass")
    for kind, token, offset in tokens(data, max(byte, 0)):
        if kind != "text":
            continue
        start = offset if outer.isascii() else in_characters(data, offset)
        written = token.decode(errors="surrogatepass")
        read = _read(written)
        end = start + len(written)
        if read is not None and read[0] == value:
            sites = tuple((inside, outside + start) for inside, outside in read[1])
            return Text(value, sites, start, end)
        break
    return Text(value, (), 0, len(outer))


def _read(written: str) -> tuple[str, list[Site]] | None:
    """Return the value of a literal and the place of each piece of the value in it."""
    if written.startswith("$"):
        opening = written.index("$", 1) + 1
        return written[opening:-opening], [(0, opening)]
    if written[0] in "eE":
        return _escaped(written)
    if written[0] != "'":
        return None
    pieces: list[str] = []
    sites: list[Site] = []
    inside, offset = 0, 1
    while True:
        end = written.find("''", offset, len(written) - 1)
        piece = written[offset:-1] if end < 0 else written[offset : end + 1]
        sites.append((inside, offset))
        pieces.append(piece)
        inside += len(piece)
        if end < 0:
            return "".join(pieces), sites
        offset = end + 2


def _escaped(written: str) -> tuple[str, list[Site]]:
    pieces: list[str] = []
    sites: list[Site] = [(0, 2)]
    inside, offset, last = 0, 2, len(written) - 1
    while offset < last:
        character = written[offset]
        if character == "'":
            piece, after = "'", offset + 2
        elif character == "\\" and (match := _ESCAPE.match(written, offset)):
            octal, hexadecimal, short, long, letter = match.groups()
            code = (octal and int(octal, 8)) or (hexadecimal and int(hexadecimal, 16)) or (short or long)
            if letter is not None:
                piece = _LETTERS.get(letter, letter)
            else:
                piece = chr(code if isinstance(code, int) else int(code or "0", 16) % 0x110000)
            after = match.end()
        else:
            pieces.append(character)
            inside, offset = inside + 1, offset + 1
            continue
        pieces.append(piece)
        inside, offset = inside + len(piece), after
        sites.append((inside, offset))
    return "".join(pieces), sites
