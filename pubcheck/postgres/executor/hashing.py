"""The server's hash functions (common/hashfn.c, access/hash/hashfunc.c), by which filters share rows out.

Bob Jenkins' lookup3 over little-endian words; both the 32-bit functions and the extended ones with a seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal

from pubcheck.postgres.datum import Interval
from pubcheck.postgres.executor.functions import Function
from pubcheck.postgres.output.numbers import numeric_digits

FUNCTIONS: dict[str, Function] = {}

_MASK = 0xFFFFFFFF
_START = 0x9E3779B9 + 3923095


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (32 - by)) & _MASK


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    a = (a - c & _MASK) ^ _rotated(c, 4)
    c = c + b & _MASK
    b = (b - a & _MASK) ^ _rotated(a, 6)
    a = a + c & _MASK
    c = (c - b & _MASK) ^ _rotated(b, 8)
    b = b + a & _MASK
    a = (a - c & _MASK) ^ _rotated(c, 16)
    c = c + b & _MASK
    b = (b - a & _MASK) ^ _rotated(a, 19)
    a = a + c & _MASK
    c = (c - b & _MASK) ^ _rotated(b, 4)
    return a, b + a & _MASK, c


def _final(a: int, b: int, c: int) -> tuple[int, int, int]:
    c = (c ^ b) - _rotated(b, 14) & _MASK
    a = (a ^ c) - _rotated(c, 11) & _MASK
    b = (b ^ a) - _rotated(a, 25) & _MASK
    c = (c ^ b) - _rotated(b, 16) & _MASK
    a = (a ^ c) - _rotated(c, 4) & _MASK
    b = (b ^ a) - _rotated(a, 14) & _MASK
    c = (c ^ b) - _rotated(b, 24) & _MASK
    return a, b, c


def _begun(length: int, seed: int) -> tuple[int, int, int]:
    a = b = c = _START + length & _MASK
    if seed:
        a, b, c = _mixed(a + (seed >> 32) & _MASK, b + (seed & _MASK) & _MASK, c)
    return a, b, c


def _bytes(data: bytes, seed: int = 0) -> tuple[int, int]:
    """hash_bytes and hash_bytes_extended: the upper and the lower half."""
    a, b, c = _begun(len(data), seed)
    whole = len(data) - len(data) % 12
    for x, y, z in struct.iter_unpack("<3I", data[:whole]):
        a, b, c = _mixed(a + x & _MASK, b + y & _MASK, c + z & _MASK)
    rest = data[whole:]
    # The lowest byte of c holds the length.
    x, y, z = struct.unpack("<3I", rest[:8].ljust(8, b"\0") + (b"\0" + rest[8:]).ljust(4, b"\0"))
    _, b, c = _final(a + x & _MASK, b + y & _MASK, c + z & _MASK)
    return b, c


def _word(value: int, seed: int = 0) -> tuple[int, int]:
    """hash_bytes_uint32 and its extended form."""
    a, b, c = _begun(4, seed)
    _, b, c = _final(a + (value & _MASK) & _MASK, b, c)
    return b, c


def _long(value: int, seed: int = 0) -> tuple[int, int]:
    """hashint8: equal numbers of different types hash alike."""
    low, high = value & _MASK, value >> 32 & _MASK
    return _word(low ^ (high if value >= 0 else ~high & _MASK), seed)


def _unsigned(value: int, seed: int = 0) -> tuple[int, int]:
    """An unsigned number is hashed as the signed number of the same bits."""
    return _long(value - (1 << 64) if value >> 63 else value, seed)


def _float(value: float, seed: int = 0) -> tuple[int, int]:
    if value == 0:
        return seed >> 32 & _MASK, seed & _MASK
    return _bytes(struct.pack("<d", float("nan") if value != value else value), seed)


def _numeric(value: Decimal, seed: int = 0) -> tuple[int, int]:
    """hash_numeric: the digits to the base of 10,000 without zeros at the ends, and the weight."""
    if not value.is_finite():
        return seed >> 32 & _MASK, seed & _MASK
    if not value:
        return (seed - 1) >> 32 & _MASK, (seed - 1) & _MASK
    digits, weight = numeric_digits(value)
    packed = struct.pack(f"<{len(digits)}H", *digits)
    high, low = _bytes(packed, seed)
    combined = (high << 32 | low) ^ (weight & 0xFFFFFFFFFFFFFFFF)
    return combined >> 32 & _MASK, combined & _MASK


def _interval(value: Interval, seed: int = 0) -> tuple[int, int]:
    low = value & 0xFFFFFFFFFFFFFFFF
    return _long(low - (1 << 64) if low >> 63 else low, seed)


def _moment(value: float | int, seed: int = 0) -> tuple[int, int]:
    if isinstance(value, float):
        value = (1 << 63) - 1 if value > 0 else -(1 << 63)
    return _long(value, seed)


def _date(value: float | int, seed: int = 0) -> tuple[int, int]:
    if isinstance(value, float):
        value = (1 << 31) - 1 if value > 0 else -(1 << 31)
    return _word(value, seed)


def _text(value: str, seed: int = 0) -> tuple[int, int]:
    return _bytes(value.encode(errors="surrogatepass"), seed)


def _register(plain: str, extended: str, hashed: Callable[..., tuple[int, int]]) -> None:
    def short(value: object) -> int:
        low = hashed(value)[1]
        return low - (1 << 32) if low >> 31 else low

    def long(value: object, seed: int) -> int:
        high, low = hashed(value, seed & 0xFFFFFFFFFFFFFFFF)
        result = high << 32 | low
        return result - (1 << 64) if result >> 63 else result

    FUNCTIONS[plain], FUNCTIONS[extended] = short, long


for _names, _hash in (
    ("hashint2 hashint4 hashoid hashbool hashxid hashcid", _word),
    ("hashint8", _long),
    ("hashxid8 pg_lsn_hash", _unsigned),
    ("hashtext hashname", _text),
    ("hashbytea uuid_hash hashmacaddr hashmacaddr8", _bytes),
    ("hashfloat4 hashfloat8", _float),
    ("hash_numeric", _numeric),
    ("interval_hash", _interval),
    ("timestamp_hash timestamptz_hash time_hash", _moment),
    ("hashdate", _date),
):
    for _name in _names.split():
        _register(_name, _name + ("_extended" if "_hash" in _name or _name.startswith("hash_") else "extended"), _hash)
_register("hashbpchar", "hashbpcharextended", lambda value, seed=0: _text(value.rstrip(" "), seed))
_register("hashchar", "hashcharextended", lambda value, seed=0: _word(value[0] - (256 if value[0] > 127 else 0), seed))
