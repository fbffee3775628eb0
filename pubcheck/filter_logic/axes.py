"""The values of a type in their order, as keys that Python compares.

An axis is cut at the constants that conditions compare with. A comparison gives the same answer for all values of the
open interval between two neighbouring cuts, so one value of each interval and each cut decide it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from decimal import ROUND_FLOOR, Decimal
from decimal import Context as DecimalContext
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

from pubcheck.postgres import oids
from pubcheck.postgres.datum import DAY_LENGTH, single

Key = Any


class Axis(Protocol):
    """A total order of a type's values.

    ``cuts`` are the keys at which a comparison with a constant of the type ``oid`` may change its answer: the key of an
    equal value, or the two neighbours of a constant between them, or nothing if all values are on one side of it. None:
    constants of that type are not followed. ``between`` gives values of the open interval between two keys, None being
    an end of the axis. It may find none though there are some, and gives None where there is certainly none.
    """

    def key(self, value: Any) -> Key: ...

    def value(self, key: Key) -> Any: ...

    def values_at(self, key: Key) -> int:
        """Return how many values have a key: none, one, or more (2), which only comparisons do not tell apart."""
        ...

    def cuts(self, value: Any, oid: int) -> tuple[Key, ...] | None: ...

    def between(self, low: Key | None, high: Key | None) -> list[Any] | None: ...


Position = Callable[[Any, int], "int | Fraction | None"]
"""Where a constant of some type is on an axis of integers, None if the type cannot be compared so."""


class Steps:
    """An axis of integers from ``low`` to ``high``; ``steps`` are distances that make readable values."""

    def __init__(
        self,
        low: int,
        high: int,
        position: Position,
        decode: Callable[[int], Any],
        origin: int = 0,
        steps: tuple[int, ...] = (1, 2),
    ) -> None:
        self.low, self.high, self.position, self.decode = low, high, position, decode
        self.origin, self.steps = origin, steps

    def key(self, value: Any) -> int:
        position = self.position(value, 0)
        assert position is not None
        return int(position)

    def value(self, key: int) -> Any:
        return self.decode(key)

    def values_at(self, key: int) -> int:
        return 1

    def cuts(self, value: Any, oid: int) -> tuple[int, ...] | None:
        position = self.position(value, oid)
        if position is None:
            return None
        below, above = math.floor(position), math.ceil(position)
        return tuple(key for key in dict.fromkeys((below, above)) if self.low <= key <= self.high)

    def between(self, low: int | None, high: int | None) -> list[Any] | None:
        least = self.low if low is None else low + 1
        greatest = self.high if high is None else high - 1
        keys: list[int] = []
        if low is None and high is None:
            keys.append(self.origin)
        for step in self.steps:
            if low is not None:
                keys.append(low + step)
            if high is not None:
                keys.append(high - step)
        keys += [least, greatest]
        if least > greatest:
            return None
        return [self.decode(key) for key in dict.fromkeys(keys) if least <= key <= greatest][:6]


def _number(value: Any, oid: int) -> int | Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    if isinstance(value, int):
        return value
    if value != value or value in (float("inf"), Decimal("Infinity")):
        return 1 << 200
    if value in (float("-inf"), Decimal("-Infinity")):
        return -(1 << 200)
    return Fraction(value)


def _integers(bits: int) -> Steps:
    return Steps(-(1 << bits - 1), (1 << bits - 1) - 1, _number, int)


def _scaled(typmod: int) -> Steps:
    """numeric(precision, scale): multiples of the unit of its last digit, and NaN above them."""
    precision, scale = ((typmod - 4) >> 16) & 0xFFFF, ((typmod - 4) & 0x7FF) ^ 1024
    scale -= 1024
    greatest: int = 10**precision - 1
    shift: Fraction = Fraction(10**scale) if scale >= 0 else Fraction(1, 10**-scale)

    def position(value: Any, oid: int) -> int | Fraction | None:
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value != value:
            return greatest + 1
        number = _number(value, oid)
        if number is None:
            return None
        scaled = Fraction(number) * shift
        # Infinity is below NaN, and no value of the type.
        return min(scaled, Fraction(2 * greatest + 1, 2)) if scaled > greatest else scaled

    def decode(key: int) -> Decimal:
        return (
            Decimal("NaN")
            if key > greatest
            else Decimal(key).scaleb(-scale, _WIDE).quantize(Decimal(1).scaleb(-max(scale, 0)), context=_WIDE)
        )

    unit = 10**scale if scale > 0 else 1
    return Steps(-greatest, greatest + 1, position, decode, 0, (unit, 1))


_DOUBLE, _LONG = struct.Struct("<d"), struct.Struct("<q")
_FLOAT, _INT = struct.Struct("<f"), struct.Struct("<i")


def _floating(is_single: bool) -> Steps:
    """Floating-point numbers by their bits, which have the order of the numbers; NaN is above infinity."""
    floats, integers = (_FLOAT, _INT) if is_single else (_DOUBLE, _LONG)
    least = -(1 << (31 if is_single else 63))
    infinity: int = integers.unpack(floats.pack(math.inf))[0]

    def bits(value: float) -> int:
        key: int = integers.unpack(floats.pack(value))[0]
        return key if key >= 0 else least - key

    def position(value: Any, oid: int) -> int | Fraction | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        if value != value:
            return infinity + 1
        try:
            near = single(float(value)) if is_single else float(value)
        except OverflowError:
            near = math.inf if value > 0 else -math.inf
        key = bits(near)
        exact = near == value or (not math.isinf(near) and Fraction(near) == Fraction(value))
        if exact or math.isinf(near):
            return key
        return Fraction(2 * key + (1 if Fraction(value) > Fraction(near) else -1), 2)

    def decode(key: int) -> float:
        if key > infinity:
            return math.nan
        value: float = floats.unpack(integers.pack(key if key >= 0 else least - key))[0]
        return value

    return Readable(-infinity, infinity + 1, position, decode)


class Readable(Steps):
    """Floating-point numbers: round ones are tried first."""

    def values_at(self, key: int) -> int:
        return 1 if key else 2  # 0 and -0

    def between(self, low: int | None, high: int | None) -> list[Any] | None:
        ends = [self.decode(key) for key in (low, high) if key is not None]
        round_numbers = [0.0, *(end + step for end in ends if math.isfinite(end) for step in (1.0, -1.0, 0.5, -0.5))]
        keys = [self.key(number) for number in round_numbers]
        inside = [key for key in keys if (low is None or key > low) and (high is None or key < high)]
        others = super().between(low, high)
        return None if others is None else [*map(self.decode, inside), *others][:4]


_EARLIEST_DAY, _LAST_DAY = -2451545, 2145031948
_EARLIEST_MOMENT, _LAST_MOMENT = -211813488000000000, 9223371331200000000 - 1
_DAYS_2024 = 8766
"""2024-01-01, in days since 2000-01-01."""
_READABLE = (DAY_LENGTH, 3_600_000_000, 1_000_000, 1)
"""A day, an hour, a second, a microsecond."""


def _moments(low: int, high: int, unit: int, of_key: int, steps: tuple[int, ...]) -> Steps:
    """Dates and timestamps as numbers of ``unit`` microseconds, with the infinities at both ends. ``of_key`` is the
    value of the type that one unit is."""

    def position(value: Any, oid: int) -> int | Fraction | None:
        if isinstance(value, float):
            return high + 1 if value > 0 else low - 1
        if isinstance(value, bool) or not isinstance(value, int):
            return None
        if not oid:
            return Fraction(value, of_key)
        return Fraction(value * (DAY_LENGTH if oid == oids.DATE else 1), unit)

    def decode(key: int) -> Any:
        return math.inf if key > high else -math.inf if key < low else key * of_key

    return Steps(low - 1, high + 1, position, decode, _DAYS_2024 * DAY_LENGTH // unit, steps)


_DATES = _moments(_EARLIEST_DAY, _LAST_DAY, DAY_LENGTH, 1, (1,))


def _timestamps(digits: int) -> Steps:
    """timestamp(digits): multiples of the unit of its last digit."""
    unit: int = 10 ** (6 - digits)
    steps = tuple(dict.fromkeys(max(step // unit, 1) for step in _READABLE))
    return _moments(-(-_EARLIEST_MOMENT // unit), _LAST_MOMENT // unit, unit, unit, steps)


def _times(digits: int) -> Steps:
    """time(digits): multiples of the unit of its last digit."""
    unit: int = 10 ** (6 - digits)
    steps = tuple(dict.fromkeys(max(step // unit, 1) for step in _READABLE[1:]))
    return Steps(
        0,
        DAY_LENGTH // unit,
        lambda value, oid: Fraction(value, unit) if isinstance(value, int) else None,
        lambda key: key * unit,
        DAY_LENGTH // unit // 2,
        steps,
    )


_UUIDS = Steps(
    0,
    (1 << 128) - 1,
    lambda value, oid: int.from_bytes(value, "big") if isinstance(value, bytes) else None,
    lambda key: key.to_bytes(16, "big"),
)


class Labels(Steps):
    """The labels of an enum."""

    def __init__(self, labels: Iterable[str]) -> None:
        known = list(labels)
        numbers = {label: number for number, label in enumerate(known)}
        super().__init__(0, len(known) - 1, lambda value, oid: numbers.get(value), known.__getitem__)
        self.keys = range(len(known))


class Numerics:
    """numeric without a precision: dense, NaN on top."""

    def key(self, value: Any) -> tuple[int, Any]:
        return (1, 0) if value != value else (0, value)

    def value(self, key: tuple[int, Any]) -> Any:
        return Decimal("NaN") if key[0] else key[1] if isinstance(key[1], Decimal) else Decimal(key[1])

    def values_at(self, key: tuple[int, Any]) -> int:
        return 2  # 1 and 1.0

    def cuts(self, value: Any, oid: int) -> tuple[Key, ...] | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        return (self.key(value),)

    def between(self, low: Any, high: Any) -> list[Any] | None:
        if high is not None and high[0]:
            high = None  # NaN: every number is below it
        if low is not None and low[0]:
            return None
        least = None if low is None else Decimal(low[1])
        greatest = None if high is None else Decimal(high[1])
        if greatest is not None and greatest == Decimal("-Infinity"):
            return None
        if least is not None and least == Decimal("Infinity"):
            return None if high is not None else [Decimal("NaN")]
        if greatest == Decimal("Infinity"):
            greatest = None
        if least == Decimal("-Infinity"):
            least = None
        if least is None or greatest is None:
            end = least if greatest is None else greatest
            step = Decimal(1 if greatest is None else -1)
            return [Decimal(0)] if end is None else [_WIDE.add(end, step)]
        whole = _WIDE.add(least.to_integral_value(ROUND_FLOOR), Decimal(1))
        middle = _WIDE.divide(_WIDE.add(least, greatest), Decimal(2))
        return [number for number in (whole, middle) if least < number < greatest]


_WIDE = DecimalContext(prec=150_000)
"""More digits than a numeric has."""


class Strings:
    """Texts in the order of their code points. Other collations than those of the C locale agree about equality only.

    ``length``: the greatest number of characters, 0 without one. ``padded``: blanks at the end have no meaning.
    """

    def __init__(self, length: int, padded: bool) -> None:
        self.length, self.padded = length, padded

    def key(self, value: Any) -> str:
        text: str = value
        return text.rstrip(" ") if self.padded else text

    def value(self, key: str) -> str:
        return key.ljust(self.length) if self.padded else key

    def values_at(self, key: str) -> int:
        if self.length and len(key) > self.length:
            return 0
        return 2 if self.padded and not self.length else 1

    def cuts(self, value: Any, oid: int) -> tuple[Key, ...] | None:
        # A text that ends in a blank differs from the bpchar that is padded with it.
        blank_counts = self.padded and oid != oids.BPCHAR and isinstance(value, str) and value.endswith(" ")
        return (self.key(value),) if isinstance(value, str) and not blank_counts else None

    def between(self, low: str | None, high: str | None) -> list[Any] | None:
        if high is not None and high in ("", f"{low}\x01"):
            return None
        candidates = [] if low is not None else ["a", "0", "A", " ", ""]
        start = low or ""
        candidates += [start + last for last in ("a", "0", "A", "z", "x1", "\x01")]
        if start:
            candidates += [start[:-1] + chr(min(ord(start[-1]) + 1, _LAST_CHARACTER)), start[:-1] + "~", "~"]
        if high:
            # Shorter texts that begin as the upper end does.
            before = high[:-1] + chr(max(ord(high[-1]) - 1, 1))
            candidates += [high[:-1], before, before + "z"]
        return [self.value(text) for text in dict.fromkeys(candidates) if self._inside(text, low, high)][:6]

    def _inside(self, text: str, low: str | None, high: str | None) -> bool:
        if self.length and len(text) > self.length:
            return False
        if self.padded and text != text.rstrip(" "):
            return False
        return (low is None or text > low) and (high is None or text < high) and not _SURROGATES & set(text)


_LAST_CHARACTER = 0x10FFFF
_SURROGATES = frozenset(map(chr, range(0xD800, 0xE000)))


class Bytes:
    """bytea in the order of its bytes."""

    def key(self, value: Any) -> bytes:
        data: bytes = value
        return data

    def value(self, key: bytes) -> bytes:
        return key

    def values_at(self, key: bytes) -> int:
        return 1

    def cuts(self, value: Any, oid: int) -> tuple[Key, ...] | None:
        return (value,) if isinstance(value, bytes) else None

    def between(self, low: bytes | None, high: bytes | None) -> list[Any] | None:
        if high == b"":
            return None
        start = low or b""
        candidates = ([] if low is not None else [b""]) + [start + b"a", start + b"\x00"]
        return [data for data in candidates if (low is None or data > low) and (high is None or data < high)]


_FIXED: dict[int, Axis] = {
    oids.INT2: _integers(16),
    oids.INT4: _integers(32),
    oids.INT8: _integers(64),
    oids.OID: Steps(0, (1 << 32) - 1, _number, int),
    oids.DATE: _DATES,
    oids.UUID: _UUIDS,
    oids.FLOAT4: _floating(True),
    oids.FLOAT8: _floating(False),
    oids.BYTEA: Bytes(),
}
STRINGS = (oids.TEXT, oids.VARCHAR, oids.BPCHAR)


@cache
def axis_of(oid: int, typmod: int) -> Axis | None:
    """Return the axis of a type's values, None for a type whose equality is not followed either."""
    if oid in _FIXED:
        return _FIXED[oid]
    if oid == oids.NUMERIC:
        return _scaled(typmod) if typmod >= 4 else Numerics()
    digits = typmod if 0 <= typmod <= 6 else 6
    if oid in (oids.TIMESTAMP, oids.TIMESTAMPTZ):
        return _timestamps(digits)
    if oid == oids.TIME:
        return _times(digits)
    if oid in STRINGS:
        return Strings(max(typmod - 4, 0), oid == oids.BPCHAR)
    return None
