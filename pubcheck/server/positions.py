"""Positions in a text as a client counts them: lines, and columns in its units (UTF-8, UTF-16 or UTF-32)."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from pubcheck.source import LineIndex

Encoding = types.PositionEncodingKind | str

_BOM = "\ufeff"


class Lines:
    """A text and its lines, which LF, CRLF and a lone CR end. Offsets do not count a byte order mark; a client does."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text.removeprefix(_BOM)
        self._encoding = encoding
        self._shift = _units(_BOM, encoding) if text.startswith(_BOM) else 0
        self._index = LineIndex(self.text)
        self._plain = self.text.isascii()

    def range(self, start: int, end: int) -> types.Range:
        """Return offsets as a range of the client."""
        return types.Range(self.position(start), self.position(end))

    def position(self, offset: int) -> types.Position:
        """Return an offset as a position of the client."""
        line, column = self._index.locate(offset)
        return self.converted(types.Position(line - 1, column - 1))

    def converted(self, position: types.Position) -> types.Position:
        """Return a position whose column counts code points as one of the client."""
        line, column = position.line, position.character
        if not self._plain and line < len(self._index):
            start = self._index.start(line + 1)
            column = _units(self.text[start : start + column], self._encoding)
        return types.Position(line, column + (0 if line else self._shift))

    def offset(self, position: types.Position) -> int:
        """Return a position of the client as an offset; one after the end of a line is the end of the line."""
        if position.line >= len(self._index):
            return len(self.text)
        start = self._index.start(position.line + 1)
        end = self._index.start(position.line + 2) if position.line + 1 < len(self._index) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        character = max(0, position.character - (0 if position.line else self._shift))
        if self._plain:
            return min(start + character, end)
        for offset in range(start, end):
            if character <= 0:
                return offset
            character -= _units(self.text[offset], self._encoding)
        return end


def changed(text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: Encoding) -> str:
    """Return a text after changes, one after the other."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            lines = Lines(text, encoding)
            start, end = lines.offset(change.range.start), lines.offset(change.range.end)
            mark = _BOM if text.startswith(_BOM) else ""
            text = mark + lines.text[:start] + change.text + lines.text[end:]
        else:
            text = change.text
    return text


def _units(text: str, encoding: Encoding) -> int:
    if text.isascii() or encoding == types.PositionEncodingKind.Utf32:
        return len(text)
    if encoding == types.PositionEncodingKind.Utf8:
        return len(text.encode(errors="surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)
