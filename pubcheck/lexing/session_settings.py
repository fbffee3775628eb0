"""Settings on which it depends how a text is read, from statement to statement, as far as the text says them.

client_encoding follows the server's encnames.c and mbutils.c: the server converts what it receives from it.
"""

from __future__ import annotations

import re
from typing import Generic, TypeVar

from msgspec.structs import replace

from pubcheck.lexing.items import Statement
from pubcheck.lexing.lexical import CONT, GAP

_Value = TypeVar("_Value")

_TRANSACTIONAL = frozenset(("begin", "start", "commit", "end", "rollback", "abort"))
SETTERS = frozenset(("set", "reset", "discard", "select")) | _TRANSACTIONAL
_FALSE = frozenset(("off", "of", "false", "fals", "fal", "fa", "f", "no", "n", "0"))  # utils/adt/bool.c: parse_bool
_TRUE = frozenset(("true", "tru", "tr", "t", "yes", "ye", "y", "on", "1"))


class SessionSetting(Generic[_Value]):
    """A setting from statement to statement."""

    name = ""
    spelling = r"{name}{gap}(?:=|to(?!{cont}))"
    """What stands between SET and the value."""
    words: tuple[str, ...] = ()
    """One of these words is in each statement that sets it by name."""

    def __init__(self, default: _Value) -> None:
        """``default`` is the value of a new session."""
        self._default = default
        self.reset()

    def _set(self) -> str:
        spelling = self.spelling.format(name=self.name, gap=GAP, cont=CONT)
        value = r"(?:'([^']*+)'|\"([^\"]*+)\"|([\w-]++))"
        return rf"(?ai:set{GAP}(?:(session|local)(?!{CONT}){GAP})?(?:{spelling}){GAP}{value})"

    def _set_config(self) -> str:
        return (
            rf"(?ai:select{GAP}(?:pg_catalog{GAP}\.{GAP})?+set_config{GAP}\({GAP}'{self.name}'{GAP},{GAP}"
            rf"'([^']++)'{GAP},{GAP}'?+(\w++)'?+{GAP}\))"
        )

    def reset(self) -> None:
        """Take the default of a new session."""
        self.value = self._default
        """Now."""
        self._session = self._begun = self._default
        """Without SET LOCAL, and as the transaction began."""

    def read(self, text: str) -> _Value:
        """Return the value that a text gives; of what the server refuses, the value that stays."""
        raise NotImplementedError

    def assign(self, value: _Value, *, local: bool = False) -> None:
        """Set the value, for the transaction only if ``local``."""
        self.value = value
        if not local:
            self._session = value

    def follow(self, keyword: str, sql: str) -> None:
        """Apply a statement to the setting; ``keyword`` is its first word, one of ``SETTERS``."""
        if keyword in _TRANSACTIONAL:
            if keyword in ("begin", "start"):
                self._begun = self._session
                return
            if keyword in ("rollback", "abort"):
                if " to " in f" {sql.lower()} ":
                    return
                self._session = self._begun
            self.value = self._session
        elif keyword in ("set", "select"):
            lower = sql.lower()
            if not any(word in lower for word in self.words):
                return
            match = re.fullmatch(self._set() if keyword == "set" else self._set_config(), sql)
            if match is None:
                return
            if keyword == "set":
                local, text = (match[1] or "").lower() == "local", match[2] or match[3] or match[4] or ""
            else:
                local, text = match[2].lower() in _TRUE, match[1]
            self.assign(self._default if text.lower() == "default" else self.read(text), local=local)
        elif re.fullmatch(rf"(?ai:(?:reset{GAP}(?:{self.name}|all)|discard{GAP}all))", sql):
            self.assign(self._default)


class Conforming(SessionSetting[bool]):
    """standard_conforming_strings, on which it depends where a literal ends."""

    name = "standard_conforming_strings"
    words = (name,)

    def __init__(self) -> None:
        super().__init__(True)

    def read(self, text: str) -> bool:
        return text.lower() not in _FALSE


_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_SEVERAL_BYTES = frozenset(
    (
        "euccn", "eucjis2004", "eucjp", "euckr", "euctw", "big5", "gb18030", "gbk", "johab", "mskanji", "shiftjis",
        "shiftjis2004", "sjis", "uhc", "win932", "win936", "win949", "win950", "windows932", "windows936",
        "windows949", "windows950",
    )
)  # fmt: skip
_OTHERS = {
    "utf8": "utf-8", "unicode": "utf-8", "sqlascii": "utf-8", "koi8": "koi8_r", "koi8r": "koi8_r", "koi8u": "koi8_u",
    "alt": "cp866", "win": "cp1251", "win866": "cp866", "windows866": "cp866", "win874": "cp874",
    "windows874": "cp874", "abc": "cp1258", "tcvn": "cp1258", "tcvn5712": "cp1258", "vscii": "cp1258",
}  # fmt: skip
_LATIN = (1, 2, 3, 4, 9, 10, 13, 14, 15, 16)
"""The parts of ISO 8859 that PostgreSQL calls LATIN1 to LATIN10."""
_CODECS = {
    **_OTHERS,
    **{f"latin{number}": f"iso8859_{part}" for number, part in enumerate(_LATIN, 1)},
    **{f"iso8859{part}": f"iso8859_{part}" for part in (*range(1, 11), *range(13, 17))},
    **{f"{name}125{page}": f"cp125{page}" for name in ("win", "windows") for page in range(9)},
}
"""PostgreSQL's encodings of one byte for each character, and UTF8; for SQL_ASCII the server converts nothing."""
_UNKNOWN = ""
"""An encoding that is not known, or not followed."""


class ClientEncoding(SessionSetting[str | None]):
    """The setting from statement to statement: a codec, or None for the encoding with which psql starts."""

    name = "client_encoding"
    spelling = r"{name}{gap}(?:=|to(?!{cont}))|names(?!{cont})"
    words = (name, "names")

    def __init__(self) -> None:
        super().__init__(None)

    def read(self, text: str) -> str | None:
        name = re.sub(r"[^a-z0-9]", "", text.lower())
        return _CODECS.get(name, _UNKNOWN if name in _SEVERAL_BYTES else self.value)

    def command(self, argument: str | None, *, runs: bool | None) -> None:
        """Follow \\encoding, which sends SET client_encoding (exec_command_encoding).

        ``argument`` is None if it is not known; ``runs``: whether the command does, None if unknown.
        """
        if argument != "":
            self.assign(self.read(argument) if argument is not None and runs else _UNKNOWN)

    def forget(self) -> None:
        """Note that the setting is not known any more."""
        self.assign(_UNKNOWN)

    def received(self, statement: Statement, written: str) -> Statement:
        """Return a statement as the server receives it: with what its bytes mean in this encoding.

        ``written`` is the codec of the file.
        """
        codec = self.value
        if codec is None or codec == written or statement.text.isascii():
            return statement
        edits = list(statement.edits)
        for match in _NOT_ASCII.finditer(statement.text):
            start, end = match.span()
            if any(begin < end and start < stop for begin, stop, _ in statement.edits):
                continue
            try:
                edits.append((start, end, match[0].encode(written).decode(codec)))
            except (UnicodeError, LookupError):
                return replace(statement, perhaps=True)
        return replace(statement, edits=tuple(sorted(edits)))
