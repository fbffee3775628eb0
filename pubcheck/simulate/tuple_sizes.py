"""The length of rows as the heap stores them (access/common/heaptuple.c: heap_compute_data_size).

The lengths of jsonb follow convertToJsonb in utils/adt/jsonb_util.c, of numeric make_result in utils/adt/numeric.c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.output.numbers import numeric_digits
from pubcheck.postgres.session.syscache import SysCache


def numeric_size(value: Decimal) -> int:
    """Return the length of the data: a header of 2 bytes (4 for a large scale or weight), and 2 for four digits."""
    if not value.is_finite():
        return 2
    scale = max(-value.as_tuple().exponent, 0)  # type: ignore[operator]  # an int, as it is finite
    if not value:
        return 2 if scale <= 63 else 4
    digits, weight = numeric_digits(value)
    return (2 if scale <= 63 and -64 <= weight <= 63 else 4) + 2 * len(digits)


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


HEADER = 23
"""Bytes before the null bitmap (SizeofHeapTupleHeader)."""
TOAST_POINTER = 18
_SHORT_LIMIT = 126
"""The most bytes of data that a one-byte header can count."""

_FIXED: dict[int, tuple[int, int]] = {
    16: (1, 1), 18: (1, 1), 19: (64, 1), 20: (8, 8), 21: (2, 2), 23: (4, 4), 24: (4, 4), 26: (4, 4), 27: (6, 2),
    28: (4, 4), 29: (4, 4), 600: (16, 8), 601: (32, 8), 603: (32, 8), 628: (24, 8), 700: (4, 4), 701: (8, 8),
    718: (24, 8), 774: (8, 4), 790: (8, 8), 829: (6, 4), 1033: (16, 8), 1082: (4, 4), 1083: (8, 8), 1114: (8, 8),
    1184: (8, 8), 1186: (16, 8), 1266: (12, 8), 2202: (4, 4), 2203: (4, 4), 2204: (4, 4), 2205: (4, 4), 2206: (4, 4),
    2950: (16, 1), 3220: (8, 8), 3734: (4, 4), 3769: (4, 4), 4089: (4, 4), 4096: (4, 4), 4191: (4, 4), 5069: (8, 8),
}  # fmt: skip
"""typlen and typalign of the types of fixed length."""
_DOUBLE = frozenset((602, 604, 3904 + 22, 3908, 3910, 3926, 4532, 4533, 4535, 4536))
"""Types of variable length that are aligned to 8 bytes: path, polygon, and the ranges of 8-byte types."""
_PLAIN = frozenset((22, 30, 3615))
"""Types that are never compressed nor out of line, nor have short headers: int2vector, oidvector, tsquery."""

Measure = Callable[[Any], int]


class Attribute:
    """How a column is stored. ``length`` is -1 if it varies; ``measure`` then returns the length of a value's data."""

    __slots__ = ("align", "length", "measure", "number", "packable", "storage", "width")

    def __init__(self, number: int, length: int, align: int, storage: str, measure: Measure | None) -> None:
        self.number, self.length, self.align, self.storage = number, length, align, storage
        self.measure = measure
        self.packable = storage != "plain"
        self.width = length if length >= 0 else 32
        """The width that the planner expects (get_typavgwidth)."""


def attribute(cache: SysCache, column: Column) -> Attribute:
    """The storage of a column; a dropped one keeps its place and is NULL."""
    oid = cache.base_type(column.type)[0] if column.type else 0
    if oid in _FIXED:
        return Attribute(column.number, *_FIXED[oid], "plain", None)
    row = cache.type(oid) if oid else None
    if row is not None and row.kind == "e":
        return Attribute(column.number, 4, 4, "plain", None)
    storage = column.storage or ("plain" if oid in _PLAIN else "main" if oid in (650, 869, 1700) else "extended")
    variable = Attribute(column.number, -1, _alignment(cache, oid), storage, measure_of(cache, oid))
    if oid in (oids.BPCHAR, oids.VARCHAR) and column.typmod > 4:
        longest = (column.typmod - 4) * 4 + 4  # of characters of up to four bytes
        variable.width = longest if longest <= 32 or oid == oids.BPCHAR else _average(longest)
    return variable


def _average(longest: int) -> int:
    """Return the average width of a type of limited length (get_typavgwidth)."""
    return 32 + (longest - 32) // 2 if longest < 1000 else 32 + (1000 - 32) // 2


def _alignment(cache: SysCache, oid: int) -> int:
    if not oid:
        return 1
    element = cache.element_type(oid)
    if element:
        base = cache.base_type(element)[0]
        return 8 if _FIXED.get(base, (0, 4))[1] == 8 or _alignment_of_variable(cache, base) == 8 else 4
    return _alignment_of_variable(cache, oid)


def _alignment_of_variable(cache: SysCache, oid: int) -> int:
    if oid in _FIXED:
        return _FIXED[oid][1]
    if oid in (602, 604):
        return 8
    kind = cache.type(oid).kind
    if kind == "c":
        return 8
    if kind in "rm":
        subtype = cache.type(oid).base
        if kind == "m":
            subtype = cache.type(subtype).base
        return 8 if _FIXED.get(cache.base_type(subtype)[0], (0, 4))[1] == 8 else 4
    return 4


def measure_of(cache: SysCache, oid: int) -> Measure:
    """The bytes of a value's data without its header."""
    known = _MEASURES.get(oid)
    if known is not None:
        return known
    element = cache.element_type(oid) if oid else 0
    if element:
        return _array_measure(cache, element)
    return _by_text


def _text(value: Any) -> int:
    text = str(value)
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _by_text(value: Any) -> int:
    """Estimate the length of a value whose storage is not modelled, from its text."""
    return len(repr(value))


def _inet(value: Any) -> int:
    return 6 if value[0] in (2, 4, "4") else 18


def _bits(value: Any) -> int:
    return 4 + -(-len(value) // 8)


_MEASURES: dict[int, Measure] = {
    oids.TEXT: _text,
    oids.VARCHAR: _text,
    oids.BPCHAR: _text,
    oids.JSON: _text,
    oids.BYTEA: len,
    oids.NUMERIC: numeric_size,
    oids.BIT: _bits,
    oids.VARBIT: _bits,
    oids.JSONB: document_size,
    650: _inet,
    869: _inet,
    142: _text,
}


def _array_measure(cache: SysCache, element: int) -> Measure:
    base = cache.base_type(element)[0]
    length, align = _FIXED.get(base, (-1, 0))
    if length < 0 and cache.type(base).kind == "e":
        length, align = 4, 4
    inner = None if length >= 0 else measure_of(cache, base)
    align = align or _alignment_of_variable(cache, base)

    def measure(value: Any) -> int:
        elements = getattr(value, "elements", value)
        dimensions = len(getattr(value, "lengths", ())) if elements else 0
        size = 12 + 8 * dimensions  # ndim, dataoffset, elemtype; the varlena header is not counted
        if any(item is None for item in elements):
            size += -(-len(elements) // 8)
        size = (size + 4 + 7 & ~7) - 4
        for item in elements:
            if item is None:
                continue
            size = (size + 4 + align - 1 & -align) - 4
            size += length if inner is None else inner(item) + 4
            if inner is not None:
                size = (size + 4 + align - 1 & -align) - 4
        return (size + 4 + align - 1 & -align) - 4

    return measure


class RowLayout:
    """The columns of a table as they are stored; ``size`` gives t_len."""

    def __init__(self, cache: SysCache, columns: Sequence[Column]) -> None:
        self.attributes = [attribute(cache, column) for column in columns]
        self.with_toast = any(attribute.length < 0 and attribute.storage != "plain" for attribute in self.attributes)
        bitmap = -(-len(self.attributes) // 8)
        self.offset = HEADER + 7 & ~7, HEADER + bitmap + 7 & ~7
        """t_hoff without and with NULLs."""

    @property
    def rows_per_page(self) -> int:
        """The rows that the planner expects on a page, by the widths of their types (get_rel_data_width)."""
        width = sum(attribute.width for attribute in self.attributes)
        return (8192 - 24) // ((width + 7 & ~7) + 24 + 4)

    def size(self, values: dict[int, Any], stored: dict[int, int] | None = None) -> int:
        """t_len of a row. ``stored``: the whole length, header included, of values that are compressed or out of line
        (negative: an out-of-line pointer, which needs no alignment)."""
        offset = 0
        nulls = False
        get = values.get
        for column in self.attributes:
            value = get(column.number)
            if value is None:
                nulls = True
                continue
            length = column.length
            if length >= 0:
                align = column.align
                offset = (offset + align - 1 & -align) + length
                continue
            if stored and column.number in stored:
                held = stored[column.number]
                if held < 0:
                    offset -= held
                else:
                    offset = (
                        (offset + column.align - 1 & -column.align) + held if held > _SHORT_LIMIT + 1 else offset + held
                    )
                continue
            assert column.measure is not None
            length = column.measure(value)
            if length <= _SHORT_LIMIT and column.packable:
                offset += length + 1
            else:
                offset = (offset + column.align - 1 & -column.align) + length + 4
        return self.offset[nulls] + offset
