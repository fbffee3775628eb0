"""Text and where one is in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Addressed(Protocol):
        """An object of a database. ``address`` is its kind and its name."""

        @property
        def address(self) -> str: ...


class Note(Struct, frozen=True):
    """A note on how a text became SQL: the rule's code, the message, and the place (offsets)."""

    rule: str
    message: str
    start: int
    end: int
    help: str | None = None


class Call(Struct, frozen=True):
    """A call in a program, from ``start`` to ``end``, for which a framework sends a statement to the server.

    ``edits`` are ascending (start, end, sent) offsets that cover the call: ``sent``, joined, is the statement.
    ``perhaps``: the file does not tell whether it runs.
    """

    start: int
    end: int
    edits: tuple[tuple[int, int, str], ...]
    perhaps: bool = False


class View(Struct, frozen=True):
    """A text of any kind as SQL **of the same length, with the same line breaks**: every offset stays what it was.

    What PostgreSQL is not given is blank in ``text``. Spans are (start, end) offsets, ascending, apart from each other:
    in ``filled`` a placeholder was replaced, so a statement that touches one is *assumed*; the text in
    ``perhaps`` runs at times or under conditions that the text does not tell. ``edits`` are the (start, end, sent)
    where what PostgreSQL is given has another length than what is written: escapes of the host language. ``named``: the
    (offset, name) of what calls of a program name that may make, change or drop a table; an empty name is any table.
    ``calls``: the statements that a framework sends for calls, in the order in which they run. ``quoted``: the
    statements are in strings of another language, so that no text can simply be put into them. ``sent``: the spans of
    strings to which nothing is added at run time, so that a statement ends where its string ends, whatever it leaves
    open. ``cases``: those of the test cases of a program, each of which has a database of its own.
    """

    text: str
    filled: tuple[tuple[int, int], ...] = ()
    perhaps: tuple[tuple[int, int], ...] = ()
    edits: tuple[tuple[int, int, str], ...] = ()
    notes: tuple[Note, ...] = ()
    quoted: bool = False
    named: tuple[tuple[int, str], ...] = ()
    sent: tuple[tuple[int, int], ...] = ()
    calls: tuple[Call, ...] = ()
    cases: tuple[tuple[int, int], ...] = ()


class Listing(Struct, frozen=True):
    """The objects of a database that a text describes, one a line, from the line ``first`` on. ``live``: the text was
    never in a file, so that its lines mean nothing to the user."""

    objects: Sequence[Addressed]
    first: int
    live: bool = False


class Source(Struct, frozen=True, eq=False):
    """A text and the label it is reported under (a path as the user gave it, or what an editor calls the buffer).

    ``text`` is SQL, unless the source is the ``listing`` of a database. Where the file is written in something else,
    ``text`` is its view's, ``view`` is that view, and ``original`` is what the file says, which reports show.
    ``encoding`` is the codec of the file.
    """

    label: str
    text: str
    original: str | None = None
    view: View | None = None
    listing: Listing | None = None
    encoding: str = "utf-8"

    @property
    def shown(self) -> str:
        """Return the file's own text."""
        return self.text if self.original is None else self.original


class Decoded(Struct, frozen=True):
    """The decoded bytes: their ``text`` and its ``encoding``, or no text and the ``problem``, for people."""

    text: str | None
    encoding: str
    problem: str | None = None


_UTF8_BOM = b"\xef\xbb\xbf"
_LOOKED_AT = 512
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\r\f\v\b\x1b"))
"""Control characters that text rarely contains."""
_UTF16_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def decode(data: bytes) -> Decoded:
    """Return the text of a file's bytes: UTF-8, else Windows-1252 or, if it is text at all, ISO 8859-1, which has a
    character for every byte; UTF-16 where a byte order mark says so, or every other byte of ASCII text is a NUL.

    A byte order mark is not part of the text, so offsets count without it. A NUL is a problem, for PostgreSQL's
    protocol ends a query at it. Offsets in a problem count bytes from 0, the mark included.
    """
    encoding = _UTF16_BOMS.get(data[:2])
    marked = 2 if encoding is not None else 0
    if encoding is None and b"\0" in data[:2]:
        encoding = _without_mark(data)
    if encoding is not None:
        try:
            text = data[marked:].decode(encoding)
        except UnicodeDecodeError as error:
            why = "its byte order mark says it is" if marked else "its NUL bytes say it is"
            return Decoded(None, encoding, f"not UTF-16, which {why}: {_fault(error, marked)}")
        nul = text.find("\0")
        offset = marked + len(text[:nul].encode(encoding)) if nul >= 0 else -1
    else:
        encoding = "utf-8"
        skipped = len(_UTF8_BOM) if data.startswith(_UTF8_BOM) else 0
        try:
            text = data[skipped:].decode(encoding) if skipped else data.decode(encoding)
        except UnicodeDecodeError as utf8:
            try:
                text = data.decode("cp1252")
            except UnicodeDecodeError as cp1252:
                if len(data.translate(None, _CONTROLS)) * 100 < len(data) * 99:
                    problem = f"neither UTF-8 ({_fault(utf8, skipped)}) nor Windows-1252 ({_fault(cp1252)})"
                    return Decoded(None, encoding, problem)
                text, encoding = data.decode("latin-1"), "iso-8859-1"
            else:
                encoding = "windows-1252"
        offset = data.find(b"\0")
    if offset >= 0:
        return Decoded(None, encoding, f"a NUL byte at byte offset {offset}: PostgreSQL text cannot hold it")
    return Decoded(text, encoding)


def in_utf8(data: bytes) -> bytes:
    """Return a file's bytes, those of UTF-16 as they would be in UTF-8; any others as they are."""
    if data[:2] not in _UTF16_BOMS and b"\0" not in data[:2]:
        return data
    text = decode(data).text
    return data if text is None else text.encode(errors="surrogatepass")


def _without_mark(data: bytes) -> str | None:
    """UTF-16 whose text begins with ASCII, and which of the two; None for what is something else."""
    first, second = data[:_LOOKED_AT:2], data[1:_LOOKED_AT:2]
    if len(data) % 2 == 0 and data:
        if not first.count(0) and second.count(0) * 10 >= len(second) * 9:
            return "utf-16-le"
        if not second.count(0) and first.count(0) * 10 >= len(first) * 9:
            return "utf-16-be"
    return None


def _fault(error: UnicodeDecodeError, skipped: int = 0) -> str:
    return f"byte 0x{error.object[error.start]:02x} at byte offset {error.start + skipped}"


class Utf8:
    """A text as UTF-8, and the way back from byte offsets to offsets in code points: one pass, then O(1) an offset."""

    __slots__ = ("_before", "data")
    _BLOCK = 1024
    _CONTINUATION = bytes(range(0x80, 0xC0))

    def __init__(self, text: str) -> None:
        self.data = text.encode(errors="surrogatepass")
        self._before: list[int] | None = None
        if len(self.data) != len(text):
            self._before = [0]
            for offset in range(0, len(self.data), self._BLOCK):
                self._before.append(self._before[-1] + self._characters(offset, offset + self._BLOCK))

    def _characters(self, start: int, end: int) -> int:
        return len(self.data[start:end].translate(None, self._CONTINUATION))

    def offset(self, byte: int) -> int:
        """Return the code points before a byte offset."""
        if self._before is None:
            return byte
        byte = min(byte, len(self.data))
        block = byte // self._BLOCK
        return self._before[block] + self._characters(block * self._BLOCK, byte)


@lru_cache(maxsize=4)
def utf8(text: str) -> Utf8:
    """``Utf8`` of a text; those asked for last are kept, for a statement can have a finding at every name."""
    return Utf8(text)


class LineIndex:
    """Offsets of a text to 1-based (line, column), in code points; LF, CRLF and a lone CR each end a line.

    Kept is how many lines end before each block of the text: a list of all lines of a dump would cost more than what is
    asked of it.
    """

    __slots__ = ("_before", "_text")
    _BLOCK = 512

    def __init__(self, text: str) -> None:
        if "\r" in text and text.count("\r") != text.count("\r\n"):
            # With LF at the end of every line, and all offsets as they were.
            text = text.replace("\r\n", " \n").replace("\r", "\n")
        self._text = text
        self._before = [0]
        ended = 0
        for offset in range(0, len(text), self._BLOCK):
            ended += text.count("\n", offset, offset + self._BLOCK)
            self._before.append(ended)

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the 1-based (line, column) of an offset; O(log lines)."""
        before, text = self._before, self._text
        block = min(offset // self._BLOCK, len(before) - 1)
        start = block * self._BLOCK
        line = before[block] + text.count("\n", start, offset) + 1
        ended = text.rfind("\n", start, offset)
        if ended < 0 and before[block]:
            # The line begins in an earlier block: the last one in which a line ends.
            start = (bisect_left(before, before[block]) - 1) * self._BLOCK
            ended = text.rfind("\n", start, start + self._BLOCK)
        return line, offset - ended

    def start(self, line: int) -> int:
        """Return the offset of a 1-based line's first character."""
        if line == 1:
            return 0
        block = bisect_left(self._before, line - 1) - 1
        offset = block * self._BLOCK
        for _ in range(line - 1 - self._before[block]):
            offset = self._text.index("\n", offset) + 1
        return offset

    def __len__(self) -> int:
        return self._before[-1] + 1


def has_unknown_order(source: Source) -> bool:
    """Return whether the statements of a source are those of a program, as a whole."""
    view = source.view
    return view is not None and view.quoted and view.perhaps == ((0, len(source.text)),)


_UNPRINTABLE = lazy_compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters that move the cursor, colour the terminal or turn the reading direction."""


def escape(text: str) -> str:
    """Text that a terminal shows and does not obey; a line end becomes a blank."""
    return _UNPRINTABLE.sub(_escaped, text.replace("\r\n", " ").replace("\n", " ").replace("\t", " "))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
