"""The order of a type's values, the result of its default btree operator class (nbtcompare.c and each type's own); and
the case of characters, as far as all locales that a database may have agree.

An order is a function of two values, neither of them NULL, that answers below, with or above zero. ASCII letters behave
alike everywhere except in Turkish and Azeri, whose i has another capital.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import EnumLabels
from pubcheck.postgres.datum import Array, multirange_order, range_order
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Context, Order

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

Test = Callable[[Any, Any], bool]

DEFAULT, C, POSIX = 100, 950, 951
_BY_CODE_POINT = frozenset((C, POSIX, 962, 811, 6411))
"""C, POSIX, ucs_basic, pg_c_utf8, pg_unicode_fast: the order of UTF-8 bytes, which is that of code points."""
_C_LOCALES = frozenset(("c", "posix", "c.utf8", "c.utf-8", "ucs_basic", "pg_c_utf8", "pg_unicode_fast"))


def plain_order(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def nan_order(left: Any, right: Any) -> int:
    """Numbers with NaN, which is greater than all others and the same as itself (float8_cmp_internal, cmp_numerics)."""
    if left != left or right != right:
        return int(left != left) - int(right != right)
    return int(left > right) - int(left < right)


def nan_larger(left: Any, right: Any) -> Any:
    return left if nan_order(left, right) > 0 else right


def nan_smaller(left: Any, right: Any) -> Any:
    return left if nan_order(left, right) < 0 else right


def by_code_point(context: Context, collation: int) -> bool:
    """Return whether a collation is known to order by bytes."""
    if collation in _BY_CODE_POINT:
        return True
    return collation in (0, DEFAULT) and context.locale is not None and context.locale.lower() in _C_LOCALES


def is_deterministic(cache: SysCache, collation: int) -> bool:
    """Return whether a collation finds only identical texts equal, as all that are built in do."""
    return collation < FIRST_NORMAL_OID or cache.collation(collation).deterministic


def text_equality(context: Context, collation: int) -> Test:
    """Return whether two texts are equal under a collation."""
    if is_deterministic(context.cache, collation):
        return operator.eq

    def equal(left: str, right: str) -> bool:
        if left != right:
            raise Unknowable("which texts a nondeterministic collation finds equal")
        return True

    return equal


_DIGITS = re.compile("[0-9]+")


def text_order(context: Context, collation: int) -> Order:
    """Order texts under a collation.

    Without its rules only the common part of all collations is known: equality, digits, and that the empty text is
    the first.
    """
    if by_code_point(context, collation):
        return plain_order
    equal = text_equality(context, collation)

    def order(left: str, right: str) -> int:
        if equal(left, right):
            return 0
        if not left or not right:
            return 1 if left else -1
        if len(left) == len(right) and _DIGITS.fullmatch(left) and _DIGITS.fullmatch(right):
            return 1 if left > right else -1
        raise Unknowable("the order of texts under the database's collation")

    return order


def _padded(order: Order) -> Order:
    return lambda left, right: order(left.rstrip(" "), right.rstrip(" "))


def bit_order(left: str, right: str) -> int:
    """bit_cmp: the bytes that both have, then the length."""
    common = min(-(-len(left) // 8), -(-len(right) // 8)) * 8
    left_bits, right_bits = left[:common].ljust(common, "0"), right[:common].ljust(common, "0")
    if left_bits != right_bits:
        return 1 if left_bits > right_bits else -1
    return len(left) - len(right)


_PLAIN = frozenset(
    (
        oids.BOOL, oids.BYTEA, oids.CHAR, oids.DATE, oids.INT2, oids.INT4, oids.INT8, oids.INTERVAL, oids.OID,
        oids.TIME, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.TIMETZ, oids.UUID, 650, 869, 774, 829, 790, 3220, 5069,
    )
)  # fmt: skip
_KNOWN: dict[int, Order] = {
    **dict.fromkeys(_PLAIN, plain_order),
    oids.FLOAT4: nan_order,
    oids.FLOAT8: nan_order,
    oids.NUMERIC: nan_order,
    oids.BIT: bit_order,
    oids.VARBIT: bit_order,
}


def order_of(context: Context, type_oid: int, collation: int = 0) -> Order:
    """The order of a type's values. Raises Unknowable for a type whose order is not followed."""
    type_oid, _ = context.cache.base_type(type_oid)
    order = _KNOWN.get(type_oid)
    if order is not None:
        return order
    if type_oid in (oids.TEXT, oids.VARCHAR):
        return text_order(context, collation)
    if type_oid == oids.NAME:
        return text_order(context, collation or C)
    if type_oid == oids.BPCHAR:
        return _padded(text_order(context, collation))
    if type_oid == oids.JSONB:
        return json_order
    row = context.cache.type(type_oid)
    if row.kind == "e":
        return enum_order(row.labels)
    if row.kind == "r":
        return range_order(order_of(context, row.base, row.bounds))
    if row.kind == "m":
        subrow = context.cache.type(row.base)
        return multirange_order(order_of(context, subrow.base, subrow.bounds))
    element = context.cache.element_type(type_oid)
    if element:
        return array_order(order_of(context, element, collation))
    raise Unknowable(f"how values of type {context.cache.format_type(type_oid)} compare")


def enum_order(labels: EnumLabels) -> Order:
    return lambda left, right: labels.index(left) - labels.index(right)


def equality_of(context: Context, type_oid: int, collation: int = C) -> Test:
    """Return whether two values of a type are equal; only a nondeterministic collation has a say in it."""
    if type_oid in (oids.XID, oids.CID):
        return lambda left, right: bool(left == right)
    order = order_of(context, type_oid, C if is_deterministic(context.cache, collation) else collation)
    if order is plain_order:
        return lambda left, right: bool(left == right)
    return lambda left, right: order(left, right) == 0


def array_order(order: Order) -> Order:
    """array_cmp: element by element, NULLs last and equal; then the number of elements, of dimensions, and those."""

    def compare(left: Array, right: Array) -> int:
        for left_item, right_item in zip(left.elements, right.elements, strict=False):
            if left_item is None or right_item is None:
                if left_item is not right_item:
                    return 1 if left_item is None else -1
                continue
            sign = order(left_item, right_item)
            if sign:
                return sign
        return plain_order(
            (len(left.elements), len(left.lengths), left.lengths, left.lowers),
            (len(right.elements), len(right.lengths), right.lengths, right.lowers),
        )

    return compare


def array_equal(equal: Test) -> Test:
    """array_eq: bounds and elements; two NULLs are the same."""

    def compare(left: Array, right: Array) -> bool:
        if left.lengths != right.lengths or left.lowers != right.lowers:
            return False
        for left_item, right_item in zip(left.elements, right.elements, strict=True):
            if left_item is None or right_item is None:
                if left_item is not right_item:
                    return False
            elif not equal(left_item, right_item):
                return False
        return True

    return compare


# jsonb.


def json_equal(left: Any, right: Any) -> bool:
    """Return whether two documents are the same (compareJsonbContainers)."""
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is dict:
        return left.keys() == right.keys() and all(json_equal(value, right[key]) for key, value in left.items())
    if kind is list:
        return len(left) == len(right) and all(map(json_equal, left, right))
    return bool(left == right)


def json_order(left: Any, right: Any) -> int:
    """Equality is known; of other documents the order is not followed."""
    if json_equal(left, right):
        return 0
    raise Unknowable("the order of jsonb documents")


_LAST_CERTAIN = "\u04ff"
_ASCII_ONLY = frozenset((C, POSIX, 962))
_UNICODE = frozenset((811, 6411, 963))


def _ascii_only(context: Context, collation: int) -> bool | None:
    """Return whether only ASCII letters have case under a collation; None where that is not known."""
    if collation in _ASCII_ONLY:
        return True
    if collation in _UNICODE:
        return False
    if collation not in (0, DEFAULT) or context.locale is None:
        return None
    return context.locale.lower() in ("c", "posix")


def _changed(context: Context, collation: int, text: str, change: Callable[[str], str]) -> str:
    if text.isascii():
        return change(text)
    ascii_only = _ascii_only(context, collation)
    if ascii_only is None:
        raise Unknowable("the case of letters under the database's collation")
    if ascii_only:
        return "".join(change(char) if char.isascii() else char for char in text)
    if max(text) > _LAST_CERTAIN:
        raise Unknowable("the case of letters beyond Cyrillic")
    changed = [(char, change(char)) for char in text]
    if any(char in "İıſß\u0149\u01f0\u0390\u03b0ς" or len(changed_char) != 1 for char, changed_char in changed):
        raise Unknowable("the case of letters that have no single counterpart")
    return "".join(changed_char for _, changed_char in changed)


def lower(context: Context, collation: int, text: str) -> str:
    return _changed(context, collation, text, str.lower)


def upper(context: Context, collation: int, text: str) -> str:
    return _changed(context, collation, text, str.upper)


def title(context: Context, collation: int, text: str) -> str:
    """initcap: a letter that does not follow a letter or digit becomes a capital."""
    if not text.isascii():
        raise Unknowable("which characters are letters under the database's collation")
    letters, inside = [], False
    for char in text:
        letters.append(char.lower() if inside else char.upper())
        inside = char.isalnum()
    return "".join(letters)
