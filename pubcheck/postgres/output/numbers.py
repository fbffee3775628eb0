"""Output of numbers (utils/adt/int.c, int8.c, oid.c, xid.c, float.c, numeric.c, cash.c), and of the geometric types
that are made of them (geo_ops.c).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import nextafter
from typing import Any

from pubcheck.postgres.datum import WIDE
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.output import OutputContext, Sender, TypeOutput, Writer, fixed, packed

INT2, INT4, INT8, OID, XID8 = (packed(str, layout) for layout in (">h", ">i", ">q", ">I", ">Q"))
XID = CID = OID


# numeric.


def numeric_text(value: Decimal) -> str:
    """numeric_out."""
    if not value.is_finite():
        return "NaN" if value.is_nan() else "Infinity" if value > 0 else "-Infinity"
    return f"{value if value else value.copy_abs():f}"


_POSITIVE, _NEGATIVE, _NAN, _INFINITY, _MINUS_INFINITY = 0x0000, 0x4000, 0xC000, 0xD000, 0xF000
_SCALE_OF_INFINITY = 32
"""A bit that makes an infinity of a NaN is read as a part of the scale."""


def numeric_digits(value: Decimal) -> tuple[list[int], int]:
    """The digits of a finite numeric to the base of 10,000 without zeros at the ends, and the power of the first."""
    if not value:
        return [], 0
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    shift = -exponent + (exponent % 4)
    text = f"{WIDE.scaleb(value.copy_abs(), shift):f}"
    text = text.zfill(-(-len(text) // 4) * 4)
    digits = [int(text[start : start + 4]) for start in range(0, len(text), 4)]
    weight = len(digits) - 1 - shift // 4
    while digits[-1] == 0:
        digits.pop()
    return digits, weight


def _numeric_send(value: Decimal) -> bytes:
    if not value.is_finite():
        sign = _NAN if value.is_nan() else _INFINITY if value > 0 else _MINUS_INFINITY
        return struct.pack(">hhHh", 0, 0, sign, _SCALE_OF_INFINITY if value.is_infinite() else 0)
    digits, weight = numeric_digits(value)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    sign = _NEGATIVE if value < 0 else _POSITIVE
    return struct.pack(f">hhHh{len(digits)}h", len(digits), weight, sign, -exponent, *digits)


NUMERIC = fixed(numeric_text, _numeric_send)


# Floating point.


def _float_writer(context: OutputContext, single: bool) -> Writer:
    """float4out, float8out: the shortest digits that give the number back, or ``extra_float_digits`` more or less
    than the type surely has.
    """
    setting: Any = context.setting("extra_float_digits")
    extra = 1 if setting is None else int(setting)
    if extra > 0:
        return shortest_single if single else shortest_double
    precision = max((6 if single else 15) + extra, 1)

    def write(value: float) -> str:
        if value != value or value in (_INF, -_INF):
            return _special(value)
        return f"{value:.{precision}g}"

    return write


_INF = float("inf")


def _special(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def shortest_double(value: float) -> str:
    """double_to_shortest_decimal_buf (common/d2s.c): the shortest digits that are nearer to the number than to any
    other one, where ``repr`` also takes digits halfway between two.
    """
    if value != value or value in (_INF, -_INF):
        return _special(value)
    text = repr(value)
    if -_FIRST_WITH_EXPONENT < value < _FIRST_WITH_EXPONENT:
        return text.removesuffix(".0")
    if _FIRST_DOUBTFUL_DOUBLE <= abs(value) < _LAST_DOUBTFUL:
        size = abs(value)
        low, high = nextafter(size, 0.0), nextafter(size, _INF)
        limits = (Fraction(size) + Fraction(low)) / 2, (Fraction(size) + Fraction(high)) / 2
        if abs(Fraction(text)) in limits:
            digits = len(Decimal(text).normalize().as_tuple().digits)
            text = next(
                candidate
                for precision in range(digits, 17)
                if limits[0] < abs(Fraction(candidate := f"{value:.{precision}e}")) < limits[1]
            )
    return _laid_out(text, 15)


_FIRST_WITH_EXPONENT = 1e15
"""Below it ``repr`` writes an exponent exactly where the server does."""
_FIRST_DOUBTFUL_DOUBLE, _LAST_DOUBTFUL = 2.0**53, 1e40
"""Between them a few digits can be halfway between two numbers."""
_SINGLE, _BITS = struct.Struct("<f"), struct.Struct("<I")


def shortest_single(value: float) -> str:
    """float_to_shortest_decimal_buf (common/f2s.c)."""
    if value != value or value in (_INF, -_INF):
        return _special(value)
    if not value:
        return _laid_out(repr(value), 6)
    size = abs(value)
    (bits,) = _BITS.unpack(_SINGLE.pack(size))
    below, above = (_SINGLE.unpack(_BITS.pack(bits + step))[0] for step in (-1, 1))
    low, high = (size + below) / 2, (size + above) / 2 if above != _INF else size + (size - below) / 2
    for precision in range(9):
        text = f"{value:.{precision}e}"
        number = abs(float(text))
        if low < number < high or (number in (low, high) and low < Fraction(text.lstrip("-")) < high):
            break
    return _laid_out(text, 6)


def _laid_out(text: str, limit: int) -> str:
    """Digits without an exponent where it is from -4 up to a limit."""
    number = Decimal(text)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if not number:
        return "-0" if sign else "0"
    written = "".join(map(str, digits)).rstrip("0")
    exponent += len(digits) - len(written)
    scientific = len(written) - 1 + exponent
    minus = "-" if sign else ""
    if -4 <= scientific < limit:
        return minus + f"{Decimal((0, tuple(map(int, written)), exponent)):f}"
    mantissa = written[0] + ("." + written[1:] if len(written) > 1 else "")
    return f"{minus}{mantissa}e{'-' if scientific < 0 else '+'}{abs(scientific):02}"


FLOAT4 = TypeOutput(lambda context, type_oid: _float_writer(context, True), packed(str, ">f").sender)
FLOAT8 = TypeOutput(lambda context, type_oid: _float_writer(context, False), packed(str, ">d").sender)


# money.

_DOLLARS = ("c", "posix", "c.utf-8", "c.utf8", "en_us", "en_us.utf-8", "en_us.utf8")


def _money_writer(context: OutputContext, type_oid: int) -> Writer:
    """cash_out; ``lc_monetary`` says how."""
    locale = context.setting("lc_monetary")
    if locale is not None and str(locale).lower() not in _DOLLARS:
        raise Unknowable(f"the currency format of lc_monetary {locale}")

    def write(value: int) -> str:
        return f"{'-' if value < 0 else ''}${abs(value) // 100:,}.{abs(value) % 100:02}"

    return write


MONEY = TypeOutput(_money_writer, packed(str, ">q").sender)


Point = tuple[float, float]


def _points(context: OutputContext) -> Callable[[Sequence[Point]], str]:
    """path_encode, without the brackets."""
    write = _float_writer(context, False)
    return lambda points: ",".join(f"({write(x)},{write(y)})" for x, y in points)


def _between(opening: str, closing: str) -> Callable[[OutputContext, int], Writer]:
    def maker(context: OutputContext, type_oid: int) -> Writer:
        points = _points(context)
        return lambda value: f"{opening}{points(value)}{closing}"

    return maker


def _point(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)
    return lambda value: points((value,))


def _path(context: OutputContext, type_oid: int) -> Writer:
    points = _points(context)

    def out(value: tuple[bool, Sequence[Point]]) -> str:
        is_open, corners = value
        return f"[{points(corners)}]" if is_open else f"({points(corners)})"

    return out


def _line(context: OutputContext, type_oid: int) -> Writer:
    write = _float_writer(context, False)
    return lambda value: f"{{{','.join(map(write, value))}}}"


def _circle(context: OutputContext, type_oid: int) -> Writer:
    points, write = _points(context), _float_writer(context, False)
    return lambda value: f"<{points((value[0],))},{write(value[1])}>"


def _packed(*numbers: float) -> bytes:
    return struct.pack(f">{len(numbers)}d", *numbers)


def _flat(points: Sequence[Point]) -> bytes:
    return _packed(*(number for point in points for number in point))


def _output(writer: Callable[[OutputContext, int], Writer], send: Sender) -> TypeOutput:
    return TypeOutput(writer, lambda context, type_oid: send)


POINT = _output(_point, lambda value: _packed(*value))
LINE = _output(_line, lambda value: _packed(*value))
BOX, LSEG = _output(_between("", ""), _flat), _output(_between("[", "]"), _flat)
POLYGON = _output(_between("(", ")"), lambda points: struct.pack(">i", len(points)) + _flat(points))
PATH = _output(_path, lambda value: struct.pack(">?i", not value[0], len(value[1])) + _flat(value[1]))
CIRCLE = _output(_circle, lambda value: _packed(*value[0], value[1]))
