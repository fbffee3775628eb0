"""Input of numbers (utils/adt/numutils.c, numeric.c, float.c, oid.c, cash.c) and of types read as numbers."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.datum import Array, single, whole_scale
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import SPACE, InputContext, after_blanks, input_error, invalid, out_of_range
from pubcheck.postgres.versions import Major

_S = "[ \t\n\v\f\r]*"


def _number(digits: str) -> int:
    """Digits with or without a sign. Python converts only so many: beyond them the value is just too great."""
    if len(digits) > 400:
        sign, digits = digits[:1] == "-", digits.lstrip("+-0") or "0"
        value = int(digits) if len(digits) <= 400 else 10**400
        return -value if sign else value
    return int(digits)


# Integers.

_DECIMAL = lazy_compile(rf"{_S}([+-]?[0-9]+){_S}")
_INTEGER = lazy_compile(
    rf"{_S}(?P<sign>[+-]?)(?:0[xX](?P<hex>(?:_?[0-9a-fA-F])*)|0[oO](?P<oct>(?:_?[0-7])*)"
    rf"|0[bB](?P<bin>(?:_?[01])*)|(?P<dec>[0-9]+(?:_[0-9]+)*)?)(?P<rest>.*)",
    re.DOTALL,
)
_BASES = {"hex": 16, "oct": 8, "bin": 2, "dec": 10}


def _integer(context: InputContext, text: str, name: str, limit: int) -> int:
    """pg_strtoint16, 32 and 64 (numutils.c); ``limit`` is one more than the type's greatest value."""
    match = _DECIMAL.fullmatch(text)
    if match:
        value = _number(match[1])
        if -limit <= value < limit:
            return value
    value, junk = _unusual_integer(context.major, text, name, limit)
    if junk:
        raise invalid(name, text)
    if not -limit <= value < limit:
        raise out_of_range(name, text)
    return value


def _unusual_integer(major: Major, text: str, name: str, limit: int) -> tuple[int, bool]:
    """The value and whether something that is not part of it follows. Digits that overflow are met before what follows
    them.
    """
    if not major.nondecimal_integers:
        match = re.match(rf"{_S}([+-]?)([0-9]+)(.*)", text, re.DOTALL)
        if match is None:
            raise invalid(name, text)
        value = -_number(match[2])
        if value < -limit:
            raise out_of_range(name, text)
        return (value if match[1] == "-" else -value), match[3].strip(SPACE) != ""
    match = _INTEGER.fullmatch(text)
    assert match is not None
    kind = next((kind for kind in _BASES if match[kind] is not None), None)
    if kind is None or not match[kind]:
        raise invalid(name, text)
    base, value, greatest = _BASES[kind], 0, limit // _BASES[kind]
    for digit in match[kind].replace("_", ""):
        # The server stops at the first digit that does not fit, whatever follows.
        if value > greatest:
            raise out_of_range(name, text)
        value = value * base + int(digit, base)
    return (-value if match["sign"] == "-" else value), match["rest"].strip(SPACE) != ""


def read_int2(context: InputContext, text: str, typmod: int = -1) -> int:
    return _integer(context, text, "smallint", 1 << 15)


def read_int4(context: InputContext, text: str, typmod: int = -1) -> int:
    return _integer(context, text, "integer", 1 << 31)


def read_int8(context: InputContext, text: str, typmod: int = -1) -> int:
    return _integer(context, text, "bigint", 1 << 63)


_LONG = lazy_compile(rf"{_S}([+-]?[0-9]+)")
_STRTOUL = lazy_compile(rf"{_S}(?P<sign>[+-]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9][0-9]*))")


def _strtoul(text: str, decimal: bool) -> tuple[int, int] | None:
    """strtoul with base 10 or 0: return the number and its end, or None. The sign is kept."""
    match = (_LONG if decimal else _STRTOUL).match(text)
    if match is None:
        return None
    if decimal:
        return _number(match[1]), match.end()
    value = int(match["hex"], 16) if match["hex"] else int(match["oct"], 8) if match["oct"] else _number(match["dec"])
    return (-value if match["sign"] == "-" else value), match.end()


def _unsigned(text: str, name: str, bits: int, decimal: bool = False, vector: bool = False) -> tuple[int, int]:
    """uint32in_subr, uint64in_subr (numutils.c), oidin_subr (oid.c): the value and where it ends."""
    result = _strtoul(text, decimal)
    if result is None:
        raise invalid(name, text)
    value, end = result
    if abs(value) >= 1 << 64:
        raise out_of_range(name, text)
    if not vector and text[end:].strip(SPACE):
        raise invalid(name, text)
    value %= 1 << 64  # strtoul negates what has a minus
    # What fits a signed number of that many bits is taken too: -1 is the greatest value.
    if bits == 32 and 1 << 32 <= value < (1 << 64) - (1 << 31):
        raise out_of_range(name, text)
    return value % (1 << bits), end


def read_oid(context: InputContext, text: str, typmod: int = -1) -> int:
    return _unsigned(text, "oid", 32, decimal=not context.major.nondecimal_integers)[0]


def read_oid8(context: InputContext, text: str, typmod: int = -1) -> int:
    return _unsigned(text, "oid8", 64)[0]


def _transaction(context: InputContext, text: str, name: str, bits: int) -> int:
    if context.major.checked_transaction_ids:
        return _unsigned(text, name, bits)[0]
    # It is strtoul and nothing more: any text is taken.
    value = (_strtoul(text, False) or (0, 0))[0]
    return max(-(1 << 64) + 1, min(value, (1 << 64) - 1)) % (1 << bits)


def read_xid(context: InputContext, text: str, typmod: int = -1) -> int:
    return _transaction(context, text, "xid", 32)


def read_cid(context: InputContext, text: str, typmod: int = -1) -> int:
    return _transaction(context, text, "cid", 32)


def read_xid8(context: InputContext, text: str, typmod: int = -1) -> int:
    return _transaction(context, text, "xid8", 64)


def read_int2vector(context: InputContext, text: str, typmod: int = -1) -> Array:
    """int2vectorin (int.c); messages name the rest of the text from the culprit on."""
    values, rest = [], text.lstrip(SPACE)
    while rest:
        match = _LONG.match(rest)
        if match is None:
            raise invalid("smallint", rest)
        value = _number(match[1])
        if not -32768 <= value < 32768:
            raise out_of_range("smallint", rest)
        behind = rest[match.end() :]
        if behind and not behind.startswith(" "):
            raise invalid("smallint", rest)
        values.append(value)
        rest = behind.lstrip(SPACE)
    return Array(values, (len(values),), (0,))


def read_oidvector(context: InputContext, text: str, typmod: int = -1) -> Array:
    values, rest = [], text.lstrip(SPACE)
    while rest:
        value, end = _unsigned(rest, "oid", 32, decimal=not context.major.nondecimal_integers, vector=True)
        values.append(value)
        rest = rest[end:].lstrip(SPACE)
    return Array(values, (len(values),), (0,))


# numeric.

_NUMERIC = lazy_compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_NUMERIC_GROUPED = lazy_compile(r"[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)")
_EXPONENT = lazy_compile(rf"[eE]({_S}[+-]?[0-9]+)")
_EXPONENT_GROUPED = lazy_compile(r"[eE]([+-]?[0-9]+(?:_[0-9]+)*)")
_SPECIAL = lazy_compile(r"nan|([+-]?)inf(?:inity)?", re.IGNORECASE)
_INTEGRAL = lazy_compile(r"([+-]?)0(?:[xX]((?:_?[0-9a-fA-F])+)|[oO]((?:_?[0-7])+)|[bB]((?:_?[01])+))")
_PLAIN_NUMERIC = lazy_compile(r"[+-]?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_GREATEST_EXPONENT = 0x3FFFFFFF
_GREATEST_SCALE = 0x3FFF
_GREATEST_WEIGHT = 131072
"""Digits before the decimal point that a numeric can hold."""

_OVERFLOW = "value overflows numeric format"


def read_numeric(context: InputContext, text: str, typmod: int = -1) -> Decimal:
    """numeric_in (numeric.c)."""
    if _PLAIN_NUMERIC.fullmatch(text):
        value = Decimal(text)
    else:
        value = parse_numeric(context.major, text)
    return whole_scale(value if typmod < 4 else fit(value, typmod))


def parse_numeric(major: Major, text: str) -> Decimal:
    """set_var_from_str and the refusals of make_result."""
    body = text.strip(SPACE)
    special = _SPECIAL.fullmatch(body)
    if special:
        return Decimal(body)
    if major.nondecimal_integers:
        integral = _INTEGRAL.fullmatch(body)
        if integral:
            base = 16 if integral[2] else 8 if integral[3] else 2
            whole = int((integral[2] or integral[3] or integral[4]).replace("_", ""), base)
            if whole.bit_length() > 400_000 and whole >= 10**_GREATEST_WEIGHT:
                raise input_error("22003", _OVERFLOW)
            return Decimal(-whole if integral[1] == "-" else whole)
    mantissa = (_NUMERIC_GROUPED if major.nondecimal_integers else _NUMERIC).match(body)
    if mantissa is None:
        raise invalid("numeric", text)
    digits, end, exponent = mantissa[0], mantissa.end(), 0
    if body[end : end + 1] in ("e", "E"):
        power = (_EXPONENT_GROUPED if major.nondecimal_integers else _EXPONENT).match(body, end)
        if power is None:
            raise invalid("numeric", text)
        stated = power[1].replace("_", "")
        exponent = _number(stated.strip(SPACE))
        if abs(exponent) > _GREATEST_EXPONENT or (not major.greatest_exponent and abs(exponent) == _GREATEST_EXPONENT):
            raise input_error("22003", _OVERFLOW)
        end = power.end()
    if end != len(body):
        raise invalid("numeric", text)
    digits = digits.replace("_", "")
    value = Decimal(digits)
    scale = max(len(digits.partition(".")[2]) - exponent, 0)
    if scale > _GREATEST_SCALE or (value and value.adjusted() + exponent >= _GREATEST_WEIGHT):
        raise input_error("22003", _OVERFLOW)
    return _WIDE.scaleb(value, exponent)


_WIDE = Context(prec=300_000, Emax=999_999_999, Emin=-999_999_999, rounding=ROUND_HALF_UP)


def fit(value: Decimal, typmod: int) -> Decimal:
    """apply_typmod and apply_typmod_special."""
    if value.is_nan():
        return value
    precision, scale = (typmod - 4) >> 16 & 0xFFFF, ((typmod - 4 & 0x7FF) ^ 1024) - 1024
    if value.is_infinite():
        raise input_error(
            "22003",
            "numeric field overflow",
            f"A field with precision {precision}, scale {scale} cannot hold an infinite value.",
        )
    value = value.quantize(Decimal((0, (1,), -scale)), context=_WIDE)
    whole = precision - scale
    if value and value.adjusted() >= whole:
        raise input_error(
            "22003",
            "numeric field overflow",
            f"A field with precision {precision}, scale {scale} must round to an absolute value less than "
            + (f"10^{whole}." if whole else "1."),
        )
    return value


# Floating point.

_FLOAT = lazy_compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT = lazy_compile(r"[+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][+-]?[0-9]+)?")
_FLOAT_WORD = lazy_compile(r"[+-]?(?:nan(?:\([0-9a-zA-Z_]*\))?|inf(?:inity)?)", re.IGNORECASE)
_NOT_ZERO = lazy_compile(r"[1-9]")
_REAL_OVERFLOW = float(2**128 - 2**103)
_REAL_UNDERFLOW = 2.0**-150


def _strtod(text: str, real: bool) -> tuple[float, int, bool] | None:
    """Return the number at the start of a text, its end, and whether it is out of range (strtod, strtof of glibc)."""
    match = _HEX_FLOAT.match(text)
    if match:
        try:
            value = float.fromhex(match[0])
        except OverflowError:
            return 0.0, match.end(), True
        digits = re.split("[pP]", match[0])[0][2:].lstrip("xX")
        zero = not re.search(r"[1-9a-fA-F]", digits)
    else:
        match = _FLOAT.match(text)
        if match is None:
            match = _FLOAT_WORD.match(text)
            return (float(re.sub(r"\(.*", "", match[0])), match.end(), False) if match else None
        value = float(match[0])
        zero = not _NOT_ZERO.search(re.split("[eE]", match[0])[0])
    size = abs(value)
    if zero:
        wrong = False
    elif real and size in (_REAL_OVERFLOW, _REAL_UNDERFLOW) and "x" not in match[0].lower():
        from fractions import Fraction

        exact = abs(Fraction(match[0]))
        wrong = exact >= Fraction(_REAL_OVERFLOW) or exact <= Fraction(_REAL_UNDERFLOW)
    elif real:
        wrong = size >= _REAL_OVERFLOW or size <= _REAL_UNDERFLOW
    else:
        wrong = size == 0.0 or size == float("inf")
    return value, match.end(), wrong


def leading_float8(text: str, pos: int, type_name: str, whole: str) -> tuple[float, int]:
    """float8in_internal with an end pointer: return a number within a longer text, and the end of it and of the blanks
    after it."""
    pos = after_blanks(text, pos)
    result = _strtod(text[pos:], real=False)
    if result is None:
        raise invalid(type_name, whole)
    value, end, wrong = result
    if wrong:
        raise input_error("22003", f'"{text[pos : pos + end]}" is out of range for type double precision')
    return value, after_blanks(text, pos + end)


def _float(major: Major, text: str, name: str, real: bool) -> float:
    body = text.lstrip(SPACE)
    result = _strtod(body, real)
    if result is None:
        raise invalid(name, text)
    value, end, wrong = result
    if wrong:
        named = body[:end] if not real or major.real_error_names_number else text
        raise input_error("22003", f'"{named}" is out of range for type {name}')
    if body[end:].strip(SPACE):
        raise invalid(name, text)
    return value


def read_float8(context: InputContext, text: str, typmod: int = -1) -> float:
    return _float(context.major, text, "double precision", False)


def read_float4(context: InputContext, text: str, typmod: int = -1) -> float:
    return single(_float(context.major, text, "real", True))


# money.

_DOLLARS = ("C", "POSIX", "C.UTF-8", "C.UTF8", "C.utf8", "en_US", "en_US.UTF-8", "en_US.UTF8", "en_US.utf8")
_MONEY = lazy_compile(
    rf"{_S}\$?{_S}(?P<sign>[-(+])?{_S}\$?{_S}(?P<number>[0-9,]*(?:\.(?:,*[0-9]){{0,2}},*)?)"
    r"(?P<rest>[0-9]*)(?P<end>[ \t\n\v\f\r)\-+$]*)"
)


def read_money(context: InputContext, text: str, typmod: int = -1) -> int:
    """cash_in (cash.c), in cents. What the marks mean is lc_monetary's to say."""
    locale = context.setting("lc_monetary")
    if locale is not None and str(locale) not in _DOLLARS:
        raise Unknowable(f"the currency format of lc_monetary {locale}")
    match = _MONEY.match(text)
    assert match is not None
    whole, _, cents = match["number"].replace(",", "").partition(".")
    value = _number((whole or "0") + cents)
    limit = 1 << 63
    overflow = out_of_range("money", text)
    if value > limit:
        raise overflow
    if match["rest"] and match["rest"] >= "5":
        value += 1
    for _ in range(2 - len(cents)):
        value *= 10
    if value > limit:
        raise overflow
    if match.end() != len(text):
        raise invalid("money", text)
    if match["sign"] in ("-", "(") or "-" in match["end"]:
        return -value
    if value == limit:
        raise overflow
    return value
