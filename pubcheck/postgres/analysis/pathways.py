"""The casts and conversions between types, the common type of several types (parser/parse_coerce.c:
find_coercion_pathway, can_coerce_type, select_common_type), and the volatility of the functions that nodes and
conversions call (nodes/nodeFuncs.c: check_functions_in_node; optimizer/util/clauses.c: contain_mutable_functions).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.primnodes import UNKNOWN, Expr
from pubcheck.postgres.session.syscache import SysCache

Path = tuple[str, int]
"""(CoercionPathType, function oid or 0): "relabel", "function", "io", "array" or "" for none."""

_NONE: Path = ("", 0)
_RANK = {"i": 0, "a": 1, "e": 2}
_known_paths: dict[tuple[int, int, int, str], Path] = {}
_ANYTHING = frozenset((oids.ANY, oids.ANYELEMENT, oids.ANYNONARRAY, oids.ANYCOMPATIBLE, oids.ANYCOMPATIBLENONARRAY))


def find_pathway(cache: SysCache, target: int, source: int, context: str) -> Path:
    """Return the coercion of a type to another in a context "i", "a" or "e" (find_coercion_pathway)."""
    if target < FIRST_NORMAL_OID > source and not cache.catalog.casts:
        key = (cache.catalog.major.number, target, source, context)
        path = _known_paths.get(key)
        if path is None:
            path = _known_paths[key] = _find_pathway(cache, target, source, context)
        return path
    return _find_pathway(cache, target, source, context)


def _find_pathway(cache: SysCache, target: int, source: int, context: str) -> Path:
    source, _ = cache.base_type(source)
    target, _ = cache.base_type(target)
    if source == target:
        return "relabel", 0
    cast = cache.cast(source, target)
    if cast is not None:
        if _RANK[context] < _RANK[cast.context]:
            return _NONE
        return {"f": "function", "i": "io", "b": "relabel"}[cast.method], cast.function
    if target not in (oids.OIDVECTOR, oids.INT2VECTOR):
        to, origin = cache.element_type(target), cache.element_type(source)
        if to and origin and find_pathway(cache, to, origin, context) != _NONE:
            return "array", 0
    if context != "i" and cache.type(target).category == "S":
        return "io", 0
    if context == "e" and cache.type(source).category == "S":
        return "io", 0
    return _NONE


def can_coerce(cache: SysCache, source: int, target: int, context: str) -> bool:
    """can_coerce_type for one value and a target that is not polymorphic."""
    if target in (source, oids.ANY) or source == UNKNOWN:
        return True
    if find_pathway(cache, target, source, context) != _NONE:
        return True
    if source == oids.RECORD:
        return is_complex(cache, target)
    if target == oids.RECORD:
        return is_complex(cache, source)
    if target == oids.RECORD_ARRAY:
        element = cache.element_type(source)
        return bool(element) and is_complex(cache, element)
    return source >= FIRST_NORMAL_OID and _inherits(cache, source, target)


def is_complex(cache: SysCache, oid: int) -> bool:
    """ISCOMPLEX: a composite type or a domain over one."""
    if oid == UNKNOWN:
        return False
    base, _ = cache.base_type(oid)
    return cache.type(base).kind == "c"


def _inherits(cache: SysCache, source: int, target: int) -> bool:
    """typeInheritsFrom and typeIsOfTypedTable, for row types of the unit's tables."""
    row, target_row = cache.type(cache.base_type(source)[0]), cache.type(target)
    if not row.relation or target_row.kind != "c":
        return False
    relations = cache.catalog.relations
    relation = relations.get(row.relation)
    if relation is None:
        return False
    if relation.of_type and relation.of_type == target:
        return True
    visited, todo = {relation.oid}, [relation]
    while todo:
        for parent in todo.pop().parents:
            if parent not in visited and parent in relations:
                visited.add(parent)
                todo.append(relations[parent])
    return target_row.relation in visited - {relation.oid}


def common_type(cache: SysCache, types: Sequence[int], refuse: Callable[[int, int, int], ServerError | None]) -> int:
    """select_common_type over types; ``refuse`` is asked for the error to raise, None to answer 0."""
    first = types[0]
    if first != UNKNOWN and all(oid == first for oid in types):
        return first
    chosen, _ = cache.base_type(first)
    row = cache.type(chosen)
    for index, oid in enumerate(types):
        candidate, _ = cache.base_type(oid)
        if candidate in (UNKNOWN, chosen):
            continue
        candidate_row = cache.type(candidate)
        if chosen == UNKNOWN:
            chosen, row = candidate, candidate_row
        elif candidate_row.category != row.category:
            error = refuse(chosen, candidate, index)
            if error is None:
                return 0
            raise error
        elif (
            not row.preferred
            and can_coerce(cache, chosen, candidate, "i")
            and not can_coerce(cache, candidate, chosen, "i")
        ):
            chosen, row = candidate, candidate_row
    return oids.TEXT if chosen == UNKNOWN else chosen


IMMUTABLE, PERHAPS, MUTABLE = range(3)
"""PERHAPS is the answer for an SQL function, whose body the planner may put in its place."""

_BY_TEXT = frozenset((1285, 1290, 2003, 2004))
"""quote_literal, quote_nullable and || of anything: SQL functions that cast it to text and do the rest with that."""


def mutability(cache: SysCache, node: Expr) -> int:
    """The mutability of the functions that a node itself calls. Raises Unknowable."""
    if node.node == "SQLValueFunction":
        return MUTABLE
    if node.node == "CoerceViaIO":
        return max(_io(cache, node.args[0].type, out=True), _io(cache, node.type, out=False))
    return max((_of_function(cache, node, oid) for oid in node.functions if oid), default=IMMUTABLE)


def _of_function(cache: SysCache, node: Expr, oid: int) -> int:
    if oid in _BY_TEXT:
        return max(_as_text(cache, arg.type) for arg in node.args)
    row = cache.proc(oid)
    if row.volatility == "i":
        return IMMUTABLE
    return PERHAPS if row.inlined else MUTABLE


def _as_text(cache: SysCache, oid: int) -> int:
    """The mutability of a cast of a type to text."""
    how, function = find_pathway(cache, TEXT, oid, "e")
    if how == "function":
        return IMMUTABLE if cache.proc(function).volatility == "i" else MUTABLE
    return _io(cache, oid, out=True) if how == "io" else IMMUTABLE


def _io(cache: SysCache, oid: int, *, out: bool) -> int:
    """Return the volatility of a type's input or output function.

    Those of the unit's types are the server's own, and stable: of enums, ranges, rows and arrays. Raises Unknowable for
    a base type.
    """
    oid, _ = cache.base_type(oid)
    if oid >= FIRST_NORMAL_OID:
        row = cache.type(oid)
        if row.kind in "ecrm" or row.category == "A":
            return MUTABLE
        raise Unknowable(f'the functions of type "{row.name}"')
    function = cache.io_functions(oid)[out]
    return IMMUTABLE if not function or cache.proc(function).volatility == "i" else MUTABLE
