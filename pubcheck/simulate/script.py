"""The statements of a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.postgres.parse import split_statements


def statements(script: str | Sequence[str]) -> Iterator[str]:
    """Yield the statements of a text, without those that are empty; of a list, its items."""
    for text in split_statements(script) if isinstance(script, str) else script:
        if text.strip():
            yield text
