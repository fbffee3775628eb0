"""The length of numeric values as they are stored (utils/adt/numeric.c: make_result)."""

from __future__ import annotations

from decimal import Decimal


def numeric_size(value: Decimal) -> int:
    """Return the length of the data: a header of 2 bytes (4 for a large scale or weight), and 2 for four digits."""
    if not value.is_finite():
        return 2
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    if not any(digits):
        return 2 if scale <= 63 else 4
    whole = len(digits) + exponent
    weight = -(-whole // 4) - 1
    start = weight * 4 + 4 - whole
    text = "0" * start + "".join(map(str, digits))
    text += "0" * (-len(text) % 4)
    groups = [text[first : first + 4] for first in range(0, len(text), 4)]
    while groups and groups[-1] == "0000":
        groups.pop()
    while groups and groups[0] == "0000":
        groups.pop(0)
        weight -= 1
    short = scale <= 63 and -64 <= weight <= 63
    return (2 if short else 4) + 2 * len(groups)
