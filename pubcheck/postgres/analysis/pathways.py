"""Which types go together (parser/parse_coerce.c): the casts and conversions between types (find_coercion_pathway,
can_coerce_type), the common type of several types (select_common_type), and the types that polymorphic pseudo-types
resolve to in one call. And the volatility of the functions that nodes and conversions call (nodes/nodeFuncs.c:
check_functions_in_node; optimizer/util/clauses.c: contain_mutable_functions).

Of polymorphic types the simple family (anyelement, anyarray...) wants the very same type everywhere, the compatible
family (anycompatible, anycompatiblearray...) one to which all can be brought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import TYPES_UNMATCHED, ServerError, Unknowable
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


_ELEMENTS = frozenset((oids.ANYELEMENT, oids.ANYNONARRAY, oids.ANYENUM))
_COMPATIBLE_ELEMENTS = frozenset((oids.ANYCOMPATIBLE, oids.ANYCOMPATIBLENONARRAY))
_NAMES = {
    oids.ANYARRAY: "anyarray",
    oids.ANYRANGE: "anyrange",
    oids.ANYMULTIRANGE: "anymultirange",
    oids.ANYCOMPATIBLEARRAY: "anycompatiblearray",
    oids.ANYCOMPATIBLERANGE: "anycompatiblerange",
    oids.ANYCOMPATIBLEMULTIRANGE: "anycompatiblemultirange",
}


def _range_subtype(cache: SysCache, oid: int) -> int:
    row = cache.type(oid)
    return row.base if row.kind == "r" else 0


def _multirange_range(cache: SysCache, oid: int) -> int:
    row = cache.type(oid)
    return row.base if row.kind == "m" else 0


class Binding:
    """The types that the polymorphic types of one call resolve to."""

    def __init__(
        self, cache: SysCache, actual: Sequence[int], declared: Sequence[int], *, lenient: bool, result: int = 0
    ) -> None:
        self.cache = cache
        self.actual, self.declared, self.result = actual, declared, result
        self.lenient = lenient
        self.element = self.array = self.range = self.multirange = 0
        self.common: list[int] = []
        """The types that have a say in the common type of the compatible family."""
        self.common_range = self.common_multirange = 0
        self.simple = any(oid in oids.SIMPLE_FAMILY for oid in declared)
        self.compatible = any(oid in oids.COMPATIBLE_FAMILY for oid in declared)
        self.pseudo_types = set(declared) | {result}
        self._collect()

    def _error(
        self,
        message: str,
        detail: str | None = None,
        sqlstate: str = "42804",
        key: str = "expression",
        **arguments: str,
    ) -> ServerError:
        return ServerError(
            sqlstate, message, key=key, detail=detail, hint=None, location=None, culprit=None, **arguments
        )

    def _versus(self, first: int, second: int) -> str:
        return "" if self.lenient else f"{self.cache.format_type(first)} versus {self.cache.format_type(second)}"

    def _require_same(self, expected: int, oid: int, name: str) -> int:
        if expected and oid != expected:
            raise self._error(f'arguments declared "{name}" are not all alike', self._versus(expected, oid))
        return oid

    def _collect(self) -> None:
        cache = self.cache
        for oid, declared in zip(self.actual, self.declared, strict=False):
            if declared in oids.SIMPLE_FAMILY:
                if oid == UNKNOWN:
                    continue
                if declared in _ELEMENTS:
                    self.element = self._require_same(self.element, oid, "anyelement")
                elif declared == oids.ANYARRAY:
                    self.array = self._require_same(self.array, cache.base_type(oid)[0], "anyarray")
                elif declared == oids.ANYRANGE:
                    self.range = self._require_same(self.range, cache.base_type(oid)[0], "anyrange")
                else:
                    self.multirange = self._require_same(self.multirange, cache.base_type(oid)[0], "anymultirange")
            elif declared in oids.COMPATIBLE_FAMILY and oid != UNKNOWN:
                self._collect_compatible(oid, declared)

    def _collect_compatible(self, oid: int, declared: int) -> None:
        cache = self.cache
        if declared in _COMPATIBLE_ELEMENTS:
            self.common.append(oid)
            return
        base, _ = cache.base_type(oid)
        if declared == oids.ANYCOMPATIBLEARRAY:
            element = cache.element_type(base)
            if not element:
                raise self._not("anycompatiblearray", "an array", base)
            self.common.append(element)
        elif declared == oids.ANYCOMPATIBLERANGE:
            if not self.common_range:
                subtype = _range_subtype(cache, base)
                if not subtype:
                    raise self._not("anycompatiblerange", "a range type", base)
                self.common.append(subtype)
            self.common_range = self._require_same(self.common_range, base, "anycompatiblerange")
        else:
            if not self.common_multirange and not _multirange_range(cache, base):
                raise self._not("anycompatiblemultirange", "a multirange type", base)
            self.common_multirange = self._require_same(self.common_multirange, base, "anycompatiblemultirange")

    def _not(self, declared: str, kind: str, oid: int) -> ServerError:
        name = "" if self.lenient else self.cache.format_type(oid)
        return self._error(f"argument declared {declared} is not {kind} but type {name}")

    def _inconsistent(self, first_name: str, second_name: str, first: int, second: int) -> ServerError:
        return self._error(
            f"argument declared {first_name} is not consistent with argument declared {second_name}",
            self._versus(first, second),
        )

    def _unknown(self, declared: int) -> ServerError:
        return self._error(f"could not determine polymorphic type {_NAMES[declared]} because input has type unknown")

    def fits(self) -> bool:
        self._bind_simple()
        self._bind_compatible()
        return True

    # The simple family.

    def _bind_simple(self) -> None:
        cache = self.cache
        if self.array and self.array != oids.ANYARRAY:
            element = cache.element_type(self.array)
            if not element:
                raise self._not("anyarray", "an array", self.array)
            if self.element and self.element != element:
                raise self._inconsistent("anyarray", "anyelement", self.array, self.element)
            self.element = element
        if self.multirange:
            of = _multirange_range(cache, self.multirange)
            if not of:
                raise self._not("anymultirange", "a multirange type", self.multirange)
            if self.range and self.range != of:
                raise self._inconsistent("anymultirange", "anyrange", self.multirange, self.range)
            self.range = of
        elif self.range and oids.ANYMULTIRANGE in self.pseudo_types and not self.lenient:
            self.multirange = cache.type(self.range).multirange
        if self.range:
            subtype = _range_subtype(cache, self.range)
            if not subtype:
                raise self._not("anyrange", "a range type", self.range)
            if self.element and self.element != subtype:
                raise self._inconsistent("anyrange", "anyelement", self.range, self.element)
            self.element = subtype
        if not self.simple:
            return
        if not self.element:
            if self.lenient:
                # With unknown literals only, a type that is not an array may still result, but an enum cannot.
                if oids.ANYENUM in self.declared:
                    raise self._error("")
                return
            if self.array == oids.ANYARRAY:
                if self.element_needed():
                    raise self._error('cannot determine element type of "anyarray" argument')
                return
            raise self._error("could not determine polymorphic type because input has type unknown")
        if oids.ANYNONARRAY in self.pseudo_types and self._is_array(self.element):
            raise self._error(f"type matched to anynonarray is an array type: {self._name(self.element)}")
        if oids.ANYENUM in self.pseudo_types and cache.type(self.element).kind != "e":
            raise self._error(f"type matched to anyenum is not an enum type: {self._name(self.element)}")

    def element_needed(self) -> bool:
        """Return whether more than one argument or the result depends on the element type."""
        count = sum(oid in oids.SIMPLE_FAMILY for oid in self.declared)
        return count > 1 or (self.result in oids.SIMPLE_FAMILY and self.result != oids.ANYARRAY)

    def _is_array(self, oid: int) -> bool:
        """type_is_array_domain."""
        return bool(self.cache.element_type(self.cache.base_type(oid)[0]))

    def _name(self, oid: int) -> str:
        return "" if self.lenient else self.cache.format_type(oid)

    # The compatible family.

    def _bind_compatible(self) -> None:
        self.common_type = 0
        if not self.compatible:
            return
        cache = self.cache
        if self.common_multirange:
            of = _multirange_range(cache, self.common_multirange)
            if self.common_range and self.common_range != of:
                raise self._inconsistent(
                    "anycompatiblemultirange", "anycompatiblerange", self.common_multirange, self.common_range
                )
            if not self.common_range:
                self.common_range = of
                self.common.append(_range_subtype(cache, of))
                self.pseudo_types.add(oids.ANYCOMPATIBLERANGE)
        elif self.common_range and oids.ANYCOMPATIBLEMULTIRANGE in self.pseudo_types and not self.lenient:
            self.common_multirange = cache.type(self.common_range).multirange
        if not self.common:
            return
        self.common_type = self._common_type()
        subtype = _range_subtype(cache, self.common_range) if self.common_range else 0
        for declared, bound in (
            (oids.ANYCOMPATIBLERANGE, self.common_range),
            (oids.ANYCOMPATIBLEMULTIRANGE, self.common_multirange),
        ):
            if declared in self.pseudo_types and not self.lenient:
                if not bound:
                    raise self._unknown(declared)
                if subtype != self.common_type:
                    raise self._error(
                        f"{_NAMES[declared]} type {self._name(bound)} does not match anycompatible type "
                        f"{self._name(self.common_type)}"
                    )
        if subtype and subtype != self.common_type:
            raise self._error("")
        if oids.ANYCOMPATIBLENONARRAY in self.pseudo_types and self._is_array(self.common_type):
            raise self._error(f"type matched to anycompatiblenonarray is an array type: {self._name(self.common_type)}")

    def _common_type(self) -> int:
        def refuse(first: int, second: int, index: int) -> ServerError:
            return self._error(
                TYPES_UNMATCHED, key="types-unmatched", what="argument", one=self._name(first), other=self._name(second)
            )

        chosen = common_type(self.cache, self.common, refuse)
        if not all(can_coerce(self.cache, oid, chosen, "i") for oid in self.common):
            raise self._error("arguments of anycompatible family cannot be cast to a common type")
        return chosen

    # What arguments and result become.

    def settle(self) -> tuple[list[int], int]:
        self._bind_simple()
        self._bind_compatible()
        if self.compatible and not self.common_type:
            # Nothing but unknown literals: they are text, but of no range.
            for declared in (oids.ANYCOMPATIBLERANGE, oids.ANYCOMPATIBLEMULTIRANGE):
                if declared in self.pseudo_types:
                    raise self._unknown(declared)
            self.common_type = oids.TEXT
        targets = [
            self._stands_for(declared)
            if declared in oids.COMPATIBLE_FAMILY or (declared in oids.SIMPLE_FAMILY and self._literal(index))
            else declared
            for index, declared in enumerate(self.declared)
        ]
        return targets, self._stands_for(self.result)

    def _literal(self, index: int) -> bool:
        return index < len(self.actual) and self.actual[index] == UNKNOWN

    def _stands_for(self, declared: int) -> int:
        if declared in _ELEMENTS:
            return self.element
        if declared == oids.ANYARRAY:
            return self.array or self._array_over(self.element)
        if declared in (oids.ANYRANGE, oids.ANYMULTIRANGE):
            bound = self.range if declared == oids.ANYRANGE else self.multirange
            if not bound:
                raise self._unknown(declared)
            return bound
        if declared in _COMPATIBLE_ELEMENTS:
            return self.common_type
        if declared == oids.ANYCOMPATIBLEARRAY:
            return self._array_over(self.common_type) if self.common else oids.TEXT_ARRAY
        if declared == oids.ANYCOMPATIBLERANGE:
            return self.common_range
        if declared == oids.ANYCOMPATIBLEMULTIRANGE:
            return self.common_multirange
        return declared

    def _array_over(self, element: int) -> int:
        array = self.cache.array_type(element)
        if not array:
            raise self._error(f"could not find array type for data type {self._name(element)}", sqlstate="42704")
        return array


def consistent(cache: SysCache, actual: Sequence[int], declared: Sequence[int]) -> bool:
    """Return whether the actual types may fit the polymorphic ones declared (check_generic_type_consistency)."""

    try:
        return Binding(cache, actual, declared, lenient=True).fits()
    except ServerError:
        return False


def resolve(cache: SysCache, actual: Sequence[int], declared: Sequence[int], result: int) -> tuple[list[int], int]:
    """Return the types that the arguments must be brought to, and the result type (enforce_generic_type_consistency).

    Raises ServerError 42804 or 42704, without a position.
    """
    if not any(oid in oids.SIMPLE_FAMILY or oid in oids.COMPATIBLE_FAMILY for oid in declared):
        return list(declared), result

    return Binding(cache, actual, declared, lenient=False, result=result).settle()
