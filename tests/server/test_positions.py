"""Positions and edits as clients count them, against splitting the text by hand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from pubcheck.server.conversion import Lines, changed

ENCODINGS = {
    types.PositionEncodingKind.Utf8: "utf-8",
    types.PositionEncodingKind.Utf16: "utf-16-le",
    types.PositionEncodingKind.Utf32: "utf-32-le",
}
WIDTHS = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}
TEXTS = st.text(st.sampled_from("a b;é日😀\u2028\x0c\x85\t\r\n")) | st.just("a\r\n😀b\rc\n")


def place(text: str, offset: int, codec: str) -> tuple[int, int]:
    """The lines of the protocol end with LF, CRLF and CR; columns are code units."""
    before = re.split(r"\r\n|\r|\n", text[:offset])
    return len(before) - 1, len(before[-1].encode(codec)) // WIDTHS[codec]


@given(TEXTS, st.data(), st.sampled_from(list(ENCODINGS)), st.booleans())
def test_offsets_and_positions_agree(text: str, data: st.DataObject, encoding: str, marked: bool) -> None:
    codec = ENCODINGS[encoding]  # type: ignore[index]
    mark = "\ufeff" if marked else ""
    lines = Lines(mark + text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] == "\r\n":
        return  # no position is inside of a line end
    line, column = place(mark + text, offset + len(mark), codec)
    assert lines.position(offset) == types.Position(line, column)
    assert lines.offset(types.Position(line, column)) == offset


@given(TEXTS, TEXTS, st.data(), st.sampled_from(list(ENCODINGS)))
def test_an_edit_replaces_a_range(text: str, inserted: str, data: st.DataObject, encoding: str) -> None:
    codec = ENCODINGS[encoding]  # type: ignore[index]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if "\r\n" in (text[start - 1 : start + 1], text[end - 1 : end + 1]):
        return
    place_of = [types.Position(*place(text, offset, codec)) for offset in (start, end)]
    edit = types.TextDocumentContentChangePartial(range=types.Range(*place_of), text=inserted)
    assert changed(text, [edit], encoding) == text[:start] + inserted + text[end:]


@pytest.mark.parametrize("position", [types.Position(0, 99), types.Position(9, 0)])
def test_a_position_outside_of_the_text_is_the_nearest_end(position: types.Position) -> None:
    assert Lines("ab\ncd", types.PositionEncodingKind.Utf16).offset(position) == (2 if position.line == 0 else 5)
