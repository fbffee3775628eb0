"""Bytes to text, and offsets to lines and columns."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubcheck.source import Decoded, LineIndex, Utf8, decode


@pytest.mark.parametrize(
    ("data", "decoded"),
    [
        (b"", Decoded("", "utf-8")),
        (b"SELECT 1;\r\n", Decoded("SELECT 1;\r\n", "utf-8")),
        ("größe \U0001f418".encode(), Decoded("größe \U0001f418", "utf-8")),
        (b"\xef\xbb\xbfSELECT", Decoded("SELECT", "utf-8")),
        (b"\xef\xbb\xbf\xef\xbb\xbfx", Decoded("\ufeffx", "utf-8")),
        ("größe €".encode("cp1252"), Decoded("größe €", "windows-1252")),
        (b"-- ab\x81c", Decoded("-- ab\x81c", "iso-8859-1")),
        ("größe".encode("utf-16-le"), Decoded("größe", "utf-16-le")),
        ("SELECT 1".encode("utf-16-be"), Decoded("SELECT 1", "utf-16-be")),
        ("\ufeffgröße".encode("utf-16-le"), Decoded("größe", "utf-16-le")),
        ("\ufeffgröße".encode("utf-16-be"), Decoded("größe", "utf-16-be")),
    ],
)
def test_bytes_are_decoded(data: bytes, decoded: Decoded) -> None:
    assert decode(data) == decoded


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"ab\0c", "a NUL byte at byte offset 2"),
        (b"\xef\xbb\xbfab\0c", "a NUL byte at byte offset 5"),
        (b"gr\xf6\0", "a NUL byte at byte offset 3"),
        ("\ufeffö\0".encode("utf-16-le"), "a NUL byte at byte offset 4"),
        (
            b"ab\x81\x01",
            "neither UTF-8 (byte 0x81 at byte offset 2) nor Windows-1252 (byte 0x81 at byte offset 2)",
        ),
        (
            b"\xef\xbb\xbf\xf6 \x9d\x02",
            "neither UTF-8 (byte 0xf6 at byte offset 3) nor Windows-1252 (byte 0x9d at byte offset 5)",
        ),
        (b"\xff\xfea\0\x00\xd8", "not UTF-16, which its byte order mark says it is: byte 0x00 at byte offset 4"),
        (b"\xfe\xff\0", "not UTF-16, which its byte order mark says it is: byte 0x00 at byte offset 2"),
    ],
)
def test_what_cannot_be_text_has_a_problem_that_names_the_byte(data: bytes, problem: str) -> None:
    decoded = decode(data)
    assert decoded.text is None
    assert decoded.problem is not None
    assert decoded.problem.startswith(problem)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_text_survives_utf8(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()).text == text


@given(st.binary())
def test_every_input_is_either_text_or_a_problem(data: bytes) -> None:
    decoded = decode(data)
    assert (decoded.text is None) != (decoded.problem is None)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0, 2]),
        ("a\nb\n\nc", [0, 2, 4, 5]),
        ("a\r\nb\r\n", [0, 3, 6]),
        ("a\rb\r\nc\nd", [0, 2, 5, 7]),
        ("\n\r", [0, 1, 2]),
        ("a\f\v\x85\u2028b", [0]),
    ],
)
def test_lines_end_at_lf_crlf_and_cr(text: str, starts: list[int]) -> None:
    lines = LineIndex(text)
    assert [lines.start(line + 1) for line in range(len(lines))] == starts


@given(st.text(st.sampled_from("a\té\U0001f418\r\n")), st.integers(1, 8))
def test_an_offset_is_its_lines_start_and_its_column(text: str, block: int) -> None:
    with mock.patch.object(LineIndex, "_BLOCK", block):
        _agrees_with_a_walk(text)


def test_lines_may_be_longer_than_what_is_counted_at_once() -> None:
    block = LineIndex._BLOCK
    _agrees_with_a_walk(f"a\n{'b' * 3 * block}\r\n\n{'c' * (block + block // 2)}\r{'d' * 2 * block}")


def _agrees_with_a_walk(text: str) -> None:
    lines = LineIndex(text)
    line, column = 1, 1
    for offset, char in enumerate(text):
        assert lines.locate(offset) == (line, column)
        column += 1
        if char == "\n" or (char == "\r" and text[offset + 1 : offset + 2] != "\n"):
            line, column = line + 1, 1
            assert lines.start(line) == offset + 1
    assert lines.locate(len(text)) == (line, column)
    assert len(lines) == line


@given(st.text(), st.integers(0, 3000))
def test_a_byte_offset_is_the_characters_before_it(text: str, repeated: int) -> None:
    text = "ж" * repeated + text
    encoded = Utf8(text)
    assert encoded.data == text.encode()
    for offset in {0, len(text) // 2, len(text)}:
        assert encoded.offset(len(text[:offset].encode())) == offset
