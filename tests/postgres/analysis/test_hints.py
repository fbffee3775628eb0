"""How far a column's name is from what was written, for the HINT that suggests it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pubcheck.postgres.analysis.parse_state import distance

_NAMES = st.text("abc_", max_size=8)


def _levenshtein(first: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for position, char in enumerate(first, 1):
        diagonal, row[0] = row[0], position
        for across, there in enumerate(other, 1):
            diagonal, row[across] = row[across], min(row[across] + 1, row[across - 1] + 1, diagonal + (char != there))
    return row[-1]


@given(_NAMES, _NAMES, st.integers(0, 5))
def test_a_distance_within_the_limit_is_exact_and_any_other_beyond_it(one: str, other: str, limit: int) -> None:
    exact = _levenshtein(one, other)
    measured = distance(one, other, limit)
    assert measured == exact if exact <= limit else measured > limit
