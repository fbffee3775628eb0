"""Case and classes of characters, as far as all locales that a database may have agree.

ASCII letters behave alike everywhere except in Turkish and Azeri, whose i has another capital.
"""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import DEFAULT, POSIX, C
from pubcheck.postgres.executor.values import Context

_LAST_CERTAIN = "\u04ff"
_ASCII_ONLY = frozenset((C, POSIX, 962))
_UNICODE = frozenset((811, 6411, 963))


def _ascii_only(context: Context, collation: int) -> bool | None:
    """Return whether only ASCII letters have case under a collation; None where that is not known."""
    if collation in _ASCII_ONLY:
        return True
    if collation in _UNICODE:
        return False
    if collation not in (0, DEFAULT) or context.locale is None:
        return None
    return context.locale.lower() in ("c", "posix")


def _changed(context: Context, collation: int, text: str, change: Callable[[str], str]) -> str:
    if text.isascii():
        return change(text)
    ascii_only = _ascii_only(context, collation)
    if ascii_only is None:
        raise Unknowable("the case of letters under the database's collation")
    if ascii_only:
        return "".join(change(char) if char.isascii() else char for char in text)
    if max(text) > _LAST_CERTAIN:
        raise Unknowable("the case of letters beyond Cyrillic")
    changed = [(char, change(char)) for char in text]
    if any(char in "İıſß\u0149\u01f0\u0390\u03b0ς" or len(changed_char) != 1 for char, changed_char in changed):
        raise Unknowable("the case of letters that have no single counterpart")
    return "".join(changed_char for _, changed_char in changed)


def lower(context: Context, collation: int, text: str) -> str:
    return _changed(context, collation, text, str.lower)


def upper(context: Context, collation: int, text: str) -> str:
    return _changed(context, collation, text, str.upper)


def title(context: Context, collation: int, text: str) -> str:
    """initcap: a letter that does not follow a letter or digit becomes a capital."""
    if not text.isascii():
        raise Unknowable("which characters are letters under the database's collation")
    letters, inside = [], False
    for char in text:
        letters.append(char.lower() if inside else char.upper())
        inside = char.isalnum()
    return "".join(letters)
