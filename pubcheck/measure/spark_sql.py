"""A row filter as Spark SQL that gives the same answer for every row, or the reason why there is none.

The filter's analysed expression is made a tree of sqlglot's, which writes it in Spark's dialect. What may occur in it
is listed here, operator by operator and type by type; constants are evaluated as the server does. Tests run the list on
both over random rows. Operators that can fail for a row are not in it: the server evaluates a filter from left to right
and Spark in any order, so that one of them might fail where the other does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from sqlglot import exp

from pubcheck.measure.spark_types import (
    ANY,
    BOOLEAN,
    INTEGERS,
    MOST_DIGITS,
    STRING,
    TYPES,
    NotExact,
    SparkType,
    Tree,
    precision_of,
    refuse_uncommon,
    room_for,
    written,
)
from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Filter, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, evaluate
from pubcheck.postgres.primnodes import Expr, nodes


class SparkFilter(Struct, frozen=True):
    """A condition in Spark SQL, and the columns that it reads, which must be of these types, by name."""

    sql: str
    columns: Mapping[str, SparkType]


_DIGITS = {oids.INT2: 5, oids.INT4: 10, oids.INT8: 19}

_FAMILIES = (
    *("int2", "int4", "int8", "int24", "int42", "int28", "int82", "int48", "int84"),
    *("float4", "float8", "float48", "float84", "bool"),
    *("numeric_", "date_", "timestamp_", "timestamptz_", "uuid_"),
)
_ORDER: Mapping[str, type[exp.Binary]] = {
    "eq": exp.EQ,
    "ne": exp.NEQ,
    "lt": exp.LT,
    "le": exp.LTE,
    "gt": exp.GT,
    "ge": exp.GTE,
}
_COMPARISONS: Mapping[str, type[exp.Binary]] = {
    **{f"{family}{name}": kind for family in _FAMILIES for name, kind in _ORDER.items()},
    "texteq": exp.EQ,
    "textne": exp.NEQ,
}
_TEXT_ORDER: Mapping[str, type[exp.Binary]] = {
    "text_lt": exp.LT,
    "text_le": exp.LTE,
    "text_gt": exp.GT,
    "text_ge": exp.GTE,
}
_STRICTLY = {exp.LT: exp.LT, exp.LTE: exp.LT, exp.GT: exp.GT, exp.GTE: exp.GT}
_DEFAULT_COLLATION = 100
_BYTEWISE = frozenset(("C", "POSIX", "ucs_basic"))
"""Collations that order text by its bytes, as Spark does."""

_WIDENINGS: Mapping[tuple[str, int], frozenset[int]] = {
    ("int4", oids.INT4): frozenset((oids.INT2,)),
    ("int8", oids.INT8): frozenset((oids.INT2, oids.INT4)),
    ("float8", oids.FLOAT8): frozenset((oids.INT2, oids.INT4, oids.INT8, oids.FLOAT4)),
    ("numeric", oids.NUMERIC): frozenset((oids.INT2, oids.INT4, oids.INT8)),
}
"""Casts that never fail: name and type of the function, and the types that it takes."""

_REASONS: Sequence[tuple[str, str]] = (
    (r"(text|name|bpchar)(ic)?regex(eq|ne)|regexp_.*", "Spark has a different regular expression syntax"),
    (r"(text|name|bpchar)ic(like|nlike)|lower|upper|initcap", "upper and lower case depend on the locale"),
    (r"int\d+(pl|mi|mul|um|abs)|abs", "arithmetic of integers fails with an error when it overflows"),
    (r"int\d+(div|mod)|div|mod", "a division fails with an error when the divisor is zero"),
    (r"numeric_.*|round|trunc|ceil|floor|exp|ln|power|sqrt", "arithmetic of numeric gives different digits in Spark"),
    (r"float\d+.*", "arithmetic of floating point numbers fails with an error when it overflows"),
    (r"name.*", "text of type name is cut at 63 bytes"),
    (r"bpchar.*", "character(n) is compared without trailing blanks"),
    (r"(date|timestamp|timestamptz)_.*", "a date is compared with a moment, which depends on their ranges or the zone"),
    (r"json.*", "JSON documents are compared and read differently in Spark"),
    (r"array.*|.*range.*|btarray.*", "arrays and ranges have other operators in Spark"),
)


def spark_filter(condition: Filter, relation: Relation, context: Context) -> SparkFilter:
    """A filter of a relation in Spark SQL. Raises NotExact."""
    if not condition.analysed or not isinstance(condition.expr, Expr):
        raise NotExact(condition.unknown or "it depends on objects that are not in these files")
    for _, reasons in condition.frozen:
        words = {"now": "the time", "zone": "the time zone", "datestyle": "DateStyle"}
        causes = " and ".join(words.get(reason, reason) for reason in reasons)
        raise NotExact(f"it contains a constant that depended on {causes} when the publication was created")
    try:
        builder = _Builder(relation, context)
        sql: str = builder.of(condition.expr).tree.sql(dialect="spark", comments=False)
    except RecursionError:
        raise NotExact("it is nested too deeply") from None
    except Unknowable as error:
        raise NotExact(f"pubcheck does not know {error}") from None
    return SparkFilter(sql, builder.columns)


class _Value(Struct, frozen=True):
    """A part of a filter: its tree, its type in Spark and in the server, and of a constant the value."""

    tree: Tree
    type: SparkType
    oid: int
    constant: bool = False
    value: Any = None


class _Builder:
    def __init__(self, relation: Relation, context: Context) -> None:
        self.relation, self.context, self.cache = relation, context, context.cache
        self.columns: dict[str, SparkType] = {}
        self.tested: list[_Value] = []
        """The tested expressions of the open CASEs, innermost last."""

    def of(self, expr: Expr) -> _Value:
        if not _reads_something(expr):
            return self.constant(expr)
        build = _BUILDERS.get(expr.node)
        if build is None:
            raise NotExact(f"{expr.node} is not known to mean the same in Spark")
        return build(self, expr)

    # Columns and constants.

    def column(self, expr: Expr) -> _Value:
        name, kind = self._named(expr), TYPES.get(expr.type)
        if expr.type == oids.NUMERIC:
            kind = self._decimal(name, expr.typmod)
        elif expr.type == oids.BPCHAR:
            raise NotExact(f"{name} is of type character(n), which is compared without trailing blanks")
        elif kind is None:
            raise NotExact(f"{name} is of type {self._type(expr.type)}, which Spark does not have as the server does")
        self._read(name, kind)
        return _Value(exp.column(name, quoted=True), kind, expr.type)

    def _named(self, expr: Expr) -> str:
        if not isinstance(expr.value, int) or expr.value <= 0:
            raise NotExact("it reads a whole row or a system column")
        return self.relation.columns[expr.value - 1].name

    def _read(self, name: str, kind: SparkType) -> None:
        if self.columns.get(name, ANY) == ANY:
            self.columns[name] = kind

    def _decimal(self, name: str, typmod: int) -> SparkType:
        if typmod < 0:
            raise NotExact(f"{name} is numeric without a precision, which can be too large for a Spark decimal")
        precision, scale = precision_of(typmod)
        if not 0 <= scale <= precision <= MOST_DIGITS:
            raise NotExact(f"{name} is numeric({precision},{scale}), which does not fit a Spark decimal")
        return SparkType("DECIMAL", precision, scale)

    def _type(self, oid: int) -> str:
        try:
            name: str = self.cache.type(oid).name
            return name
        except (Unknowable, ServerError):
            return "that is unknown here"

    def constant(self, expr: Expr) -> _Value:
        """Return an expression without columns as the constant that the server evaluates it to."""
        try:
            value = evaluate(expr, {}, self.context)
        except ServerError as error:
            raise NotExact(f"the server fails with {error.message}") from None
        except Unknowable as error:
            raise NotExact(f"pubcheck does not know {error}") from None
        return self._written(value, expr.type)

    def _written(self, value: Any, oid: int) -> _Value:
        literal = written(value, oid)
        if literal is None:
            raise NotExact(f"Spark has no constants of type {self._type(oid)}")
        return _Value(*literal, oid, True, value)

    # Operators and functions.

    def call(self, expr: Expr) -> _Value:
        name = self.cache.proc(expr.functions[0]).name
        comparison = _COMPARISONS.get(name) or (self._text_order(expr, name) if name in _TEXT_ORDER else None)
        if comparison is not None:
            left, right = (self.of(arg) for arg in expr.args)
            return _truth(self._compare(comparison, left, right))
        translate = _FUNCTIONS.get(name)
        if translate is not None:
            result = translate(self, expr)
            if result is not None:
                return result
        raise NotExact(_reason(name))

    def _text_order(self, expr: Expr, name: str) -> type[exp.Binary]:
        collation = self._collation(expr.input_collation)
        if collation not in _BYTEWISE:
            raise NotExact(f"text is ordered by the collation {collation}, and in Spark by its bytes")
        return _TEXT_ORDER[name]

    def _collation(self, oid: int) -> str:
        name: str = self.cache.collation(oid).name
        return "of the database" if oid == _DEFAULT_COLLATION else name

    def _compare(self, kind: type[exp.Binary], left: _Value, right: _Value) -> Tree:
        if "DECIMAL" in (left.type.name, right.type.name):
            refuse_uncommon(left.type, right.type)
        return kind(this=_inner(left.tree), expression=_inner(right.tree))

    def widened(self, expr: Expr) -> _Value | None:
        """A cast that no value fails."""
        name = self.cache.proc(expr.functions[0]).name
        if len(expr.args) != 1 or expr.args[0].type not in _WIDENINGS.get((name, expr.type), ()):
            return None
        inner = self.of(expr.args[0])
        if expr.type == oids.NUMERIC:
            kind = SparkType("DECIMAL", _DIGITS[expr.args[0].type], 0)
        else:
            kind = TYPES[expr.type]
        return _Value(exp.cast(inner.tree, kind.sql), kind, expr.type)

    def divided(self, expr: Expr) -> _Value | None:
        """Division and remainder of integers by a constant that does not make them fail: both cut off towards zero."""
        left, right = (self.of(arg) for arg in expr.args)
        rest = "mod" in self.cache.proc(expr.functions[0]).name
        if expr.type not in INTEGERS or not right.constant or right.value in ((0, None) if rest else (0, -1, None)):
            return None
        kind = exp.Mod if rest else exp.IntDiv
        quotient = kind(this=_inner(left.tree), expression=_inner(right.tree))
        return _Value(quotient if rest else exp.cast(quotient, TYPES[expr.type].sql), TYPES[expr.type], expr.type)

    def like(self, expr: Expr) -> _Value | None:
        text, pattern = (self.of(arg) for arg in expr.args)
        if not pattern.constant or pattern.value is None:
            raise NotExact("the pattern of LIKE is not a constant")
        if "\\" in pattern.value:
            raise NotExact("the pattern of LIKE contains a backslash")
        tree: Tree = exp.Like(this=_inner(text.tree), expression=pattern.tree)
        return _truth(exp.Not(this=tree) if "nlike" in self.cache.proc(expr.functions[0]).name else tree)

    def begins(self, expr: Expr) -> _Value | None:
        text, start = (self.of(arg) for arg in expr.args)
        return _truth(exp.StartsWith(this=text.tree, expression=start.tree))

    def length(self, expr: Expr) -> _Value | None:
        if len(expr.args) != 1 or expr.args[0].type != oids.TEXT:
            return None
        return _Value(exp.Length(this=self.of(expr.args[0]).tree), TYPES[oids.INT4], oids.INT4)

    def joined(self, expr: Expr) -> _Value | None:
        left, right = (self.of(arg) for arg in expr.args)
        return _Value(exp.DPipe(this=_inner(left.tree), expression=_inner(right.tree)), STRING, oids.TEXT)

    def relabelled(self, expr: Expr) -> _Value:
        if {expr.type, expr.args[0].type} <= {oids.TEXT, oids.VARCHAR}:
            return self.of(expr.args[0])
        raise NotExact(f"it reads {self._type(expr.args[0].type)} as {self._type(expr.type)}")

    def not_distinct(self, expr: Expr) -> _Value:
        return self.of(expr.args[0])

    def distinct(self, expr: Expr) -> _Value:
        self._equality(expr)
        left, right = (self.of(arg) for arg in expr.args)
        return _truth(self._compare(exp.NullSafeNEQ, left, right))

    def null_if(self, expr: Expr) -> _Value:
        self._equality(expr)
        left, right = (self.of(arg) for arg in expr.args)
        if left.type != right.type:
            raise NotExact("NULLIF compares values of different types")
        return _Value(exp.Nullif(this=left.tree, expression=right.tree), left.type, left.oid)

    def _equality(self, expr: Expr) -> None:
        name = self.cache.proc(expr.functions[0]).name
        if _COMPARISONS.get(name) is not exp.EQ:
            raise NotExact(_reason(name))

    def any_or_all(self, expr: Expr) -> _Value:
        """`= ANY` is IN and `<> ALL` its opposite; others are a comparison with each."""
        name = self.cache.proc(expr.functions[0]).name
        comparison = _COMPARISONS.get(name) or (self._text_order(expr, name) if name in _TEXT_ORDER else None)
        if comparison is None:
            raise NotExact(_reason(name))
        left = self.of(expr.args[0])
        elements = self._elements(expr.args[1])
        use_or = bool(expr.value)
        if elements is None:
            return self._written(None, oids.BOOL)
        if not elements:
            return self._written(not use_or, oids.BOOL)
        if left.type.name == "DECIMAL":
            for element in elements:
                refuse_uncommon(left.type, element.type)
            together = room_for([left.type, *(element.type for element in elements)])
            if together is None:
                raise NotExact("the numbers of the list need more digits than a decimal of Spark has")
        if (comparison, use_or) in ((exp.EQ, True), (exp.NEQ, False)):
            tree: Tree = exp.In(this=_inner(left.tree), expressions=[element.tree for element in elements])
            return _truth(tree if use_or else exp.Not(this=tree))
        tests = [self._compare(comparison, left, element) for element in elements]
        return _truth(exp.or_(*tests) if use_or else exp.and_(*tests))

    def _elements(self, expr: Expr) -> list[_Value] | None:
        """The elements of a constant array, or of a list of columns and constants; None for NULL."""
        if _reads_something(expr):
            if expr.node != "ArrayExpr" or expr.value:
                raise NotExact("the array is not a list of values")
            return [self.of(arg) for arg in expr.args]
        try:
            array = evaluate(expr, {}, self.context)
        except ServerError as error:
            raise NotExact(f"the server fails with {error.message}") from None
        except Unknowable as error:
            raise NotExact(f"pubcheck does not know {error}") from None
        if array is None:
            return None
        element = self.cache.type(expr.type).element
        return [self._written(value, element) for value in array.elements]  # type: ignore[attr-defined]

    def row_comparison(self, expr: Expr) -> _Value:
        """The first pair that differs decides, and a NULL before it leaves it open."""
        half: int = expr.value
        lefts, rights = expr.args[:half], expr.args[half:]
        tree: Tree = None
        for number in reversed(range(half)):
            name = self.cache.proc(expr.functions[number]).name
            kind = _COMPARISONS.get(name)
            if kind not in _STRICTLY:
                raise NotExact(_reason(name) if kind is None else "rows are compared for more than their order")
            left, right = self.of(lefts[number]), self.of(rights[number])
            if tree is None:
                tree = self._compare(kind, left, right)
            else:
                equal = self._compare(exp.EQ, left, right)
                tree = exp.or_(self._compare(_STRICTLY[kind], left, right), exp.and_(equal, tree))
        return _truth(tree)

    # Logic and choices.

    def logic(self, expr: Expr) -> _Value:
        parts = [self.of(arg).tree for arg in expr.args]
        if expr.value == "NOT":
            return _truth(exp.not_(parts[0]))
        return _truth(exp.or_(*parts) if expr.value == "OR" else exp.and_(*parts))

    def null_test(self, expr: Expr) -> _Value:
        inner = expr.args[0]
        if inner.node == "Var" and inner.type < FIRST_NORMAL_OID and inner.type != oids.RECORD:
            name = self._named(inner)  # of whatever type: only a row type asks more than whether it is NULL
            self._read(name, ANY)
            tree: Tree = exp.column(name, quoted=True)
        else:
            tree = _inner(self.of(inner).tree)
        test: Tree = exp.Is(this=tree, expression=exp.null())
        return _truth(test if expr.value == "IS_NULL" else exp.Not(this=test))

    def boolean_test(self, expr: Expr) -> _Value:
        words = expr.value.split()
        value = {"TRUE": exp.true(), "FALSE": exp.false(), "UNKNOWN": exp.null()}[words[-1]]
        test: Tree = exp.Is(this=_inner(self.of(expr.args[0]).tree), expression=value)
        return _truth(exp.Not(this=test) if "NOT" in words else test)

    def case(self, expr: Expr) -> _Value:
        args = list(expr.args)
        if expr.value:
            self.tested.append(self.of(args.pop(0)))
        try:
            pairs = [(self.of(args[index]), self.of(args[index + 1])) for index in range(0, len(args) - 1, 2)]
        finally:
            if expr.value:
                self.tested.pop()
        otherwise = self.of(args[-1])
        kind = self._alike([*(result for _, result in pairs), otherwise])
        branches = [exp.If(this=condition.tree, true=result.tree) for condition, result in pairs]
        return _Value(exp.Case(ifs=branches, default=otherwise.tree), kind, expr.type)

    def case_test(self, expr: Expr) -> _Value:
        if not self.tested:
            raise NotExact("it contains a CASE that is not supported")
        return self.tested[-1]

    def coalesce(self, expr: Expr) -> _Value:
        parts = [self.of(arg) for arg in expr.args]
        kind = self._alike(parts)
        tree = exp.Coalesce(this=parts[0].tree, expressions=[part.tree for part in parts[1:]])
        return _Value(tree, kind, expr.type)

    def greatest(self, expr: Expr) -> _Value:
        if expr.type in (oids.TEXT, oids.VARCHAR):
            raise NotExact("text is ordered by its collation, and in Spark by its bytes")
        parts = [self.of(arg) for arg in expr.args]
        if len(parts) == 1:
            return parts[0]
        kind = self._alike(parts)
        function = exp.Least if expr.value == "LEAST" else exp.Greatest
        return _Value(function(this=parts[0].tree, expressions=[part.tree for part in parts[1:]]), kind, expr.type)

    def _alike(self, parts: Sequence[_Value]) -> SparkType:
        """The one type of all parts; that of decimals has room for each."""
        kinds = [part.type for part in parts]
        if all(kind.name == "DECIMAL" for kind in kinds):
            together = room_for(kinds)
            if together is None:
                raise NotExact("its numbers need more digits than a decimal of Spark has")
            return together
        if len({kind.name for kind in kinds}) > 1:
            raise NotExact("it chooses between values of different types")
        return kinds[0]


def _reads_something(expr: Expr) -> bool:
    """Return whether an expression reads a column, or the tested expression of an open CASE."""
    return any(node.node in ("Var", "CaseTestExpr") for node in nodes(expr))


def _truth(tree: Tree) -> _Value:
    return _Value(tree, BOOLEAN, oids.BOOL)


_ATOMS = (exp.Column, exp.Literal, exp.Cast, exp.Func, exp.Paren, exp.Boolean, exp.Null)


def _inner(tree: Tree) -> Tree:
    return tree if isinstance(tree, _ATOMS) and not isinstance(tree, exp.Connector) else exp.Paren(this=tree)


def _reason(name: str) -> str:
    for pattern, reason in _REASONS:
        if re.fullmatch(pattern, name):
            return f"{reason} ({name})"
    return f"{name}() is not known to mean the same in Spark"


_BUILDERS: Mapping[str, Callable[[_Builder, Expr], _Value]] = {
    "BoolExpr": _Builder.logic,
    "BooleanTest": _Builder.boolean_test,
    "CaseExpr": _Builder.case,
    "CaseTestExpr": _Builder.case_test,
    "CoalesceExpr": _Builder.coalesce,
    "CollateExpr": _Builder.not_distinct,
    "DistinctExpr": _Builder.distinct,
    "FuncExpr": _Builder.call,
    "MinMaxExpr": _Builder.greatest,
    "NullIfExpr": _Builder.null_if,
    "NullTest": _Builder.null_test,
    "OpExpr": _Builder.call,
    "RelabelType": _Builder.relabelled,
    "RowCompareExpr": _Builder.row_comparison,
    "ScalarArrayOpExpr": _Builder.any_or_all,
    "Var": _Builder.column,
}

_FUNCTIONS: Mapping[str, Callable[[_Builder, Expr], _Value | None]] = {
    **{name: _Builder.widened for name, _ in _WIDENINGS},
    **dict.fromkeys((f"int{size}div" for size in (2, 4, 8, 24, 42, 28, 82, 48, 84)), _Builder.divided),
    **dict.fromkeys(("int2mod", "int4mod", "int8mod", "mod"), _Builder.divided),
    **dict.fromkeys(("textlike", "textnlike", "like", "notlike"), _Builder.like),
    **dict.fromkeys(("length", "char_length", "character_length"), _Builder.length),
    "starts_with": _Builder.begins,
    "textcat": _Builder.joined,
}
