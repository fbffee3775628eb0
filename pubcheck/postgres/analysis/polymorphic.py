"""Polymorphic pseudo-types: whether actual types fit, and the types that they resolve to (parse_coerce.c)."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import COMPATIBLE_FAMILY, SIMPLE_FAMILY
from pubcheck.postgres.session.syscache import SysCache


def consistent(cache: SysCache, actual: Sequence[int], declared: Sequence[int]) -> bool:
    """Return whether the actual types may fit the polymorphic ones declared (check_generic_type_consistency)."""
    from pubcheck.postgres.analysis.polymorphic_binding import Binding

    try:
        return Binding(cache, actual, declared, lenient=True).fits()
    except ServerError:
        return False


def resolve(cache: SysCache, actual: Sequence[int], declared: Sequence[int], result: int) -> tuple[list[int], int]:
    """Return the types that the arguments must be brought to, and the result type (enforce_generic_type_consistency).

    Raises ServerError 42804 or 42704, without a position.
    """
    if not any(oid in SIMPLE_FAMILY or oid in COMPATIBLE_FAMILY for oid in declared):
        return list(declared), result
    from pubcheck.postgres.analysis.polymorphic_binding import Binding

    return Binding(cache, actual, declared, lenient=False, result=result).settle()
