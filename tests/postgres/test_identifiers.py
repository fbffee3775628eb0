"""Names that fixes and help write into SQL."""

from __future__ import annotations

import pglast
import pytest
from pglast.keywords import RESERVED_KEYWORDS, TYPE_FUNC_NAME_KEYWORDS

from pubcheck.postgres.tokens import identifier


@pytest.mark.parametrize("word", sorted({*RESERVED_KEYWORDS, *TYPE_FUNC_NAME_KEYWORDS}))
def test_words_that_are_no_names_are_quoted(word: str) -> None:
    assert identifier(word) == f'"{word}"'
    pglast.parse_sql(f"ALTER PUBLICATION p ADD TABLE {identifier(word)} ({identifier(word)})")
