"""The length of jsonb values as they are stored (utils/adt/jsonb_util.c: convertToJsonb)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pubcheck.simulate.numeric_size import numeric_size


def document_size(value: Any) -> int:
    """Return the length of a document without its varlena header; a scalar is stored as an array of one element."""
    if isinstance(value, dict | list):
        return _container(value, 0)
    return _container([value], 0)


def _container(value: Any, offset: int) -> int:
    """The bytes of an array or object that begins at ``offset`` (which matters for its alignment)."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
        size = 4 + 8 * len(keys)
        for key in keys:
            size += len(key.encode())
        for key in keys:
            size += _entry(value[key], offset + size)
        return size
    size = 4 + 4 * len(value)
    for item in value:
        size += _entry(item, offset + size)
    return size


def _entry(value: Any, offset: int) -> int:
    """A value with the padding before it: numbers and containers begin at a multiple of four."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, str):
        return len(value.encode(errors="surrogatepass"))
    padding = -offset % 4
    if isinstance(value, Decimal | int):
        data = numeric_size(Decimal(value))
        # A numeric keeps its four-byte header, or a short one.
        return padding + data + 4
    if isinstance(value, dict | list):
        return padding + _container(value, offset + padding)
    return 0
