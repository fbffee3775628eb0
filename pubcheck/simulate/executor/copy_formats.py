"""The text and CSV formats of COPY."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.not_followed import NotFollowed


class CopyFormat:
    """The options of a COPY statement."""

    def __init__(self, options: Any) -> None:
        named = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in options}
        self.csv = _text(named.get("format")) == "csv"
        self.delimiter = _text(named.get("delimiter")) or ("," if self.csv else "\t")
        null = _text(named.get("null"))
        self.null = ("" if self.csv else "\\N") if null is None else null
        self.quote = _text(named.get("quote")) or '"'
        self.escape = _text(named.get("escape")) or self.quote
        self.header = "header" in named and _text(named["header"]) not in ("false", "off", "0")
        rest = named.keys() - {"format", "delimiter", "null", "quote", "escape", "header", "encoding", "freeze"}
        if rest or _text(named.get("format")) == "binary":
            raise NotFollowed(f"COPY with the option {min(rest, default='binary')}")


def _text(argument: Any) -> str | None:
    if argument is None:
        return None
    if "String" in argument:
        return str(argument["String"].get("sval", ""))
    if "Boolean" in argument:
        return "true" if argument["Boolean"].get("boolval") else "false"
    return str(next(iter(argument.values())).get("ival", ""))


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescape(match: re.Match[str]) -> str:
    octal, hexadecimal, letter = match.groups()
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    if hexadecimal is not None:
        return chr(int(hexadecimal, 16))
    return _LETTERS.get(letter, letter)


def text_rows(data: str, form: CopyFormat) -> Iterator[list[str | None]]:
    """CopyReadAttributesText."""
    for line in _lines(data):
        if line == "\\.":
            return
        fields: list[str | None] = []
        for field in _split(line, form.delimiter):
            if field == form.null:
                fields.append(None)
            else:
                fields.append(_ESCAPE.sub(_unescape, field) if "\\" in field else field)
        yield fields


def _lines(data: str) -> Iterator[str]:
    """The lines of the text format; a backslash before a newline makes it part of a field."""
    part = ""
    for line in data.removesuffix("\n").split("\n") if data else ():
        line = line.removesuffix("\r")
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            part += line + "\n"
            continue
        yield part + line
        part = ""
    if part:
        yield part.removesuffix("\n")


def _split(line: str, delimiter: str) -> list[str]:
    if "\\" not in line:
        return line.split(delimiter)
    return re.findall(rf"((?:\\.|[^\\{re.escape(delimiter)}])*)(?:{re.escape(delimiter)}|$)", line, re.DOTALL)[
        : _count(line, delimiter) + 1
    ]


def _count(line: str, delimiter: str) -> int:
    return len(re.findall(rf"\\.|({re.escape(delimiter)})", line, re.DOTALL)) - len(re.findall(r"\\.", line, re.DOTALL))


def csv_rows(data: str, form: CopyFormat) -> Iterator[list[str | None]]:
    """CopyReadAttributesCSV. Raises ServerError 22P04 for a quote that is not closed."""
    offset, end = 0, len(data)
    while offset < end:
        fields: list[str | None] = []
        while True:
            value, quoted, offset = _csv_field(data, offset, form)
            fields.append(None if not quoted and value == form.null else value)
            if offset >= end or data[offset] != form.delimiter:
                break
            offset += 1
        offset += 2 if data.startswith("\r\n", offset) else 1
        if fields == ["\\."]:
            return
        yield fields


def _csv_field(data: str, offset: int, form: CopyFormat) -> tuple[str, bool, int]:
    """A field, whether it was quoted, and where it ends."""
    parts: list[str] = []
    quoted = inside = False
    while offset < len(data):
        character = data[offset]
        if inside:
            following = data[offset + 1 : offset + 2]
            if character == form.escape and following in (form.quote, form.escape) and following:
                parts.append(following)
                offset += 1
            elif character == form.quote:
                inside = False
            else:
                parts.append(character)
        elif character == form.quote:
            quoted = inside = True
        elif character == form.delimiter or character in "\r\n":
            break
        else:
            parts.append(character)
        offset += 1
    if inside:
        raise ServerError("22P04", "unterminated CSV quoted field")
    return "".join(parts), quoted, offset
