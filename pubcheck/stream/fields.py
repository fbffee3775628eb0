"""The fields of a message, one after the other, each with its bytes: for the annotated hex dump, and for errors.

This is the format as PostgreSQL's documentation lists it ("Logical Replication Message Formats"). `decode` reads the
same format faster, and asks this module about what it cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from pubcheck.stream.lsn import format_lsn, format_time
from pubcheck.stream.messages import Malformed


class Field(Struct, frozen=True):
    """A field of a message: where its bytes are, its name in PostgreSQL's documentation, and its value as text."""

    start: int
    end: int
    name: str
    value: str


_KINDS = {
    "B": "Begin",
    "M": "Message",
    "C": "Commit",
    "O": "Origin",
    "R": "Relation",
    "Y": "Type",
    "I": "Insert",
    "U": "Update",
    "D": "Delete",
    "T": "Truncate",
    "S": "Stream Start",
    "E": "Stream Stop",
    "c": "Stream Commit",
    "A": "Stream Abort",
    "b": "Begin Prepare",
    "P": "Prepare",
    "K": "Commit Prepared",
    "r": "Rollback Prepared",
    "p": "Stream Prepare",
}
_PREFIXED = frozenset("RYIUDTM")
_IDENTITIES = {"d": "default", "n": "nothing", "f": "full", "i": "index"}
END = "the end of the message"
"""What is expected after the last field."""

_LENGTH_SHOWN = 60
"""Characters of a value that are shown; the bytes hold the whole value."""


class _Cursor:
    """Reads a message from its start. Every method raises Malformed where the bytes are not what it reads."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def bytes(self, name: str, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            left = len(self.data) - self.at
            actual = f"{count(left, 'byte')} and the end"
            raise Malformed(self.at, f"{name} ({count(size, 'byte')})", actual, truncated=True)
        start, self.at = self.at, end
        return self.data[start:end]

    def number(self, name: str, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.bytes(name, size), "big", signed=signed)

    def letter(self, name: str, letters: str) -> str:
        byte = self.bytes(name, 1)
        letter = byte.decode("latin-1")
        if letter not in letters:
            raise Malformed(self.at - 1, f"{name} ({_or(letters)})", shown(byte))
        return letter

    def one_of(self, name: str, allowed: range) -> int:
        number = self.number(name, 1)
        if number not in allowed:
            raise Malformed(self.at - 1, f"{name} ({_or(map(str, allowed))})", str(number))
        return number

    def text(self, name: str) -> str:
        end = self.data.find(0, self.at)
        if end < 0:
            left = len(self.data) - self.at
            actual = f"{count(left, 'byte')} without one"
            raise Malformed(self.at, f"{name} (text that ends in a zero byte)", actual, truncated=True)
        text = self.bytes(name, end - self.at).decode("utf-8", "surrogateescape")
        self.at += 1
        return text


_Part: TypeAlias = Callable[[_Cursor], Iterator[Field]]


def fields(data: bytes, *, in_block: bool = False, streaming: str | None = None) -> Iterator[Field]:
    """Yield the fields of a message. ``in_block``: it was sent inside a streamed block. ``streaming`` is that option;
    without it, the length of Stream Abort decides its form. Raises Malformed where the bytes do not follow the
    protocol."""
    cursor = _Cursor(data)
    letter = cursor.letter("the kind of a message", "".join(_KINDS))
    yield Field(0, 1, "message", f"{letter} {_KINDS[letter]}")
    if in_block and letter in _PREFIXED:
        yield from _XID(cursor)
    parts = _PARTS[letter]
    if letter == "A" and (streaming == "parallel" or (streaming is None and len(data) > 9)):
        parts = (*parts, _lsn("LSN of the abort"), _time("time of the abort"))
    for part in parts:
        yield from part(cursor)
    if cursor.at < len(data):
        raise Malformed(cursor.at, END, f"{count(len(data) - cursor.at, 'more byte')}")


def _number(name: str, size: int = 4, *, signed: bool = False) -> _Part:
    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        yield Field(start, start + size, name, str(cursor.number(name, size, signed=signed)))

    return read


def _lsn(name: str) -> _Part:
    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        yield Field(start, start + 8, name, format_lsn(cursor.number(name, 8)))

    return read


def _time(name: str) -> _Part:
    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        yield Field(start, start + 8, name, format_time(cursor.number(name, 8, signed=True)))

    return read


def _text(name: str) -> _Part:
    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        text = cursor.text(name)
        yield Field(start, cursor.at, name, _quoted(text))

    return read


def _flags(meanings: tuple[str, ...] = ()) -> _Part:
    """Return a part for a byte of flags: the lowest bits have these meanings, and the others are zero."""

    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        flags = cursor.one_of("flags", range(1 << len(meanings)))
        names = [meaning for bit, meaning in enumerate(meanings) if flags >> bit & 1]
        yield Field(start, cursor.at, "flags", " ".join([str(flags), *names]))

    return read


def _identity(cursor: _Cursor) -> Iterator[Field]:
    start = cursor.at
    letter = cursor.letter("replica identity", "dnfi")
    yield Field(start, cursor.at, "replica identity", f"{letter} {_IDENTITIES[letter]}")


def _columns(cursor: _Cursor) -> Iterator[Field]:
    start = cursor.at
    number = cursor.number("number of columns", 2)
    yield Field(start, cursor.at, "number of columns", str(number))
    for _ in range(number):
        for part in _COLUMN:
            yield from part(cursor)


def _oids(cursor: _Cursor) -> Iterator[Field]:
    start = cursor.at
    number = cursor.number("number of relations", 4)
    yield Field(start, cursor.at, "number of relations", str(number))
    yield from _flags(("CASCADE", "RESTART IDENTITY"))(cursor)
    if number * 4 > len(cursor.data) - cursor.at:
        actual = f"{count(len(cursor.data) - cursor.at, 'byte')} and the end"
        raise Malformed(cursor.at, f"the OIDs of {count(number, 'relation')}", actual, truncated=True)
    for _ in range(number):
        yield from _RELATION(cursor)


def _content(cursor: _Cursor) -> Iterator[Field]:
    start = cursor.at
    length = cursor.number("length of the content", 4)
    yield Field(start, cursor.at, "length", str(length))
    start = cursor.at
    content = cursor.bytes("content", length)
    yield Field(start, cursor.at, "content", shown(content))


def _tuple(letters: str) -> _Part:
    """A row after one of these letters; after the letter of an old row, the new one follows if it is among them."""

    def read(cursor: _Cursor) -> Iterator[Field]:
        start = cursor.at
        letter = cursor.letter("the row that follows", letters)
        yield Field(start, cursor.at, "row", f"{letter} {_ROWS[letter]}")
        yield from _values(cursor)
        if letter != "N" and "N" in letters:
            yield from _tuple("N")(cursor)

    return read


def _values(cursor: _Cursor) -> Iterator[Field]:
    start = cursor.at
    number = cursor.number("number of columns", 2)
    yield Field(start, cursor.at, "number of columns", str(number))
    for index in range(number):
        start = cursor.at
        name = f"column {index + 1}"
        letter = cursor.letter(f"the kind of value of {name}", "ntub")
        if letter in "nu":
            yield Field(start, cursor.at, name, "n NULL" if letter == "n" else "u unchanged TOAST value")
            continue
        length = cursor.number(f"length of {name}", 4)
        yield Field(
            start, cursor.at, name, f"{letter} {'text' if letter == 't' else 'binary'}, {count(length, 'byte')}"
        )
        start = cursor.at
        value = cursor.bytes(f"value of {name}", length)
        if value:
            text = _quoted(value.decode("utf-8", "surrogateescape")) if letter == "t" else shown(value)
            yield Field(start, cursor.at, "value", text)


_ROWS = {"N": "new row", "K": "old row, key columns only", "O": "old row"}
_XID = _number("transaction ID")
_RELATION = _number("OID of the relation")
_COLUMN: tuple[_Part, ...] = (
    _flags(("key",)),
    _text("column"),
    _number("OID of its type"),
    _number("type modifier", signed=True),
)
_PREPARED: tuple[_Part, ...] = (_time("time"), _XID, _text("global transaction ID"))
_PARTS: Mapping[str, tuple[_Part, ...]] = {
    "B": (_lsn("final LSN"), _time("commit time"), _XID),
    "M": (_flags(("transactional",)), _lsn("LSN"), _text("prefix"), _content),
    "C": (_flags(), _lsn("LSN of the commit"), _lsn("end LSN"), _time("commit time")),
    "O": (_lsn("LSN on the origin"), _text("name")),
    "R": (_RELATION, _text("namespace"), _text("name"), _identity, _columns),
    "Y": (_number("OID of the type"), _text("namespace"), _text("name")),
    "I": (_RELATION, _tuple("N")),
    "U": (_RELATION, _tuple("KON")),
    "D": (_RELATION, _tuple("KO")),
    "T": (_oids,),
    "S": (_XID, _flags(("first segment",))),
    "E": (),
    "c": (_XID, _flags(), _lsn("LSN of the commit"), _lsn("end LSN"), _time("commit time")),
    "A": (_XID, _number("subtransaction ID")),
    "b": (_lsn("LSN of the prepare"), _lsn("end LSN"), *_PREPARED),
    "P": (_flags(), _lsn("LSN of the prepare"), _lsn("end LSN"), *_PREPARED),
    "K": (_flags(), _lsn("LSN of the commit"), _lsn("end LSN"), *_PREPARED),
    "r": (_flags(), _lsn("end LSN of the prepare"), _lsn("end LSN"), _time("time of the prepare"), *_PREPARED),
    "p": (_flags(), _lsn("LSN of the prepare"), _lsn("end LSN"), *_PREPARED),
}  # fmt: skip


def count(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _or(words: Iterable[str]) -> str:
    *others, last = list(words)
    return f"{', '.join(others)} or {last}" if others else last


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LENGTH_SHOWN else text[:_LENGTH_SHOWN] + "…"
    return "'" + "".join(char if char.isprintable() else repr(char)[1:-1] for char in shown) + "'"


def shown(content: bytes) -> str:
    """Return bytes as text: printable ASCII is quoted, everything else is hex."""
    if not content:
        return "nothing"
    if all(32 <= byte < 127 for byte in content):
        return _quoted(content.decode("ascii"))
    shown = content[: _LENGTH_SHOWN // 2].hex()
    return "0x" + (shown if len(content) <= _LENGTH_SHOWN // 2 else shown + "…")
