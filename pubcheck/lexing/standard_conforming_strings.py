"""standard_conforming_strings, on which it depends where a literal ends, as far as a text says it."""

from __future__ import annotations

import re

from pubcheck.lexing.lexical import CONT, GAP

_SETTING = "standard_conforming_strings"
_SET = rf"(?ai:set{GAP}(?:(session|local)(?!{CONT}){GAP})?{_SETTING}{GAP}(?:=|to(?!{CONT})){GAP}'?+(\w++)'?+)"
_RESET = rf"(?ai:(?:reset{GAP}(?:{_SETTING}|all)|discard{GAP}all))"
_SET_CONFIG = (
    rf"(?ai:select{GAP}(?:pg_catalog{GAP}\.{GAP})?+set_config{GAP}\({GAP}'{_SETTING}'{GAP},{GAP}'(\w++)'{GAP},"
    rf"{GAP}'?+(\w++)'?+{GAP}\))"
)
_TRANSACTIONAL = frozenset(("begin", "start", "commit", "end", "rollback", "abort"))
SETTERS = frozenset(("set", "reset", "discard", "select")) | _TRANSACTIONAL
_FALSE = frozenset(("off", "of", "false", "fals", "fal", "fa", "f", "no", "n", "0"))  # utils/adt/bool.c: parse_bool
_TRUE = frozenset(("true", "tru", "tr", "t", "yes", "ye", "y", "on", "1"))


class Conforming:
    """The setting from statement to statement."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Take the default of a new session."""
        self.on = True
        """Now."""
        self._session = self._begun = True
        """Without SET LOCAL, and as the transaction began."""

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
            self.on = self._session
            return
        if keyword == "set":
            match = re.fullmatch(_SET, sql) if _SETTING in sql.lower() else None
            local = match is not None and (match[1] or "").lower() == "local"
            value = match[2].lower() if match else None
        elif keyword == "select":
            match = re.fullmatch(_SET_CONFIG, sql) if _SETTING in sql.lower() else None
            local = match is not None and match[2].lower() in _TRUE
            value = match[1].lower() if match else None
        else:
            local = False
            value = "default" if re.fullmatch(_RESET, sql) else None
        if value is None:
            return
        self.on = value not in _FALSE
        if not local:
            self._session = self.on
