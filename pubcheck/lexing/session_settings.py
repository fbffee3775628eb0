"""Settings on which it depends how a text is read, from statement to statement, as far as the text says them."""

from __future__ import annotations

import re
from typing import Generic, TypeVar

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
