"""Regular expressions that cost nothing before they are used."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from typing import Any


class _Later:
    """A regular expression that is compiled when it is first used; from then on its methods are the pattern's own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._source)
        self.match, self.fullmatch, self.search = compiled.match, compiled.fullmatch, compiled.search
        return getattr(compiled, name)


def pattern_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As re.compile, but the first use pays for it: a run needs few of many patterns, and start-up is part of the
    product."""
    later: Any = _Later(pattern, flags)
    return later  # type: ignore[no-any-return]
