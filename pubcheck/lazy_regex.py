"""Regular expressions that cost nothing before they are used."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from typing import Any, AnyStr


class _Later:
    """A regular expression that is compiled when it is first used; what was asked of it once is the pattern's own."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(*self._source), name)
        setattr(self, name, attribute)
        return attribute


def lazy_compile(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Compile a pattern at its first use.

    For modules that every run loads: linting a small file defines 92 patterns, which take 9 ms to compile, and uses 10.
    """
    later: Any = _Later(pattern, flags)
    return later  # type: ignore[no-any-return]
