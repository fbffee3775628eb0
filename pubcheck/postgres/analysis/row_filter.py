"""A row filter as the server takes it: analysed, coerced, collated, expanded, walked (TransformPubWhereClauses), and
the nodes that it may contain (check_simple_rowfilter_expr in commands/publicationcmds.c).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location, named_columns
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Filter, Place, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.oids import BOOL, INT8, REGDATABASE, REGROLE
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session

MESSAGE = "invalid publication WHERE expression"
DETAILS = {
    "filter-system-column": "System columns are not allowed.",
    "filter-user-operator": "User-defined operators are not allowed.",
    "filter-user-type": "User-defined types are not allowed.",
    "filter-mutable-function": "User-defined or built-in mutable functions are not allowed.",
    "filter-user-function": "User-defined or built-in mutable functions are not allowed.",
    "filter-user-collation": "User-defined collations are not allowed.",
    "filter-construct": "Only columns, constants, built-in operators, built-in data types, built-in collations, and "
    "immutable built-in functions are allowed.",
}
"""DETAIL by the key of the error."""

_OPERATORS = frozenset(("OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "RowCompareExpr"))
_CALLS = _OPERATORS | {"FuncExpr"}
"""Nodes whose functions count; those of XML constructs, GREATEST and LEAST do not (check_functions_in_node)."""
_ALLOWED = frozenset(
    (
        "ArrayExpr", "BoolExpr", "BooleanTest", "CaseExpr", "CaseTestExpr", "CoalesceExpr", "CollateExpr", "Const",
        "FuncExpr", "MinMaxExpr", "NullTest", "RelabelType", "RowExpr", "XmlExpr",
    )
)  # fmt: skip


class Refusal(Struct, frozen=True):
    """The server's refusal of a filter: the ``key`` of the error, the first node that is not allowed, and the object in
    it.

    ``oid`` is the function, operator, type or collation that is refused, 0 if it is the node as such or a system
    column. ``error`` is the server's answer, whose position is that of the culprit.
    """

    key: str
    culprit: Expr
    oid: int
    error: ServerError

    @property
    def detail(self) -> str:
        return DETAILS[self.key]


def _refuse(p: ParseState, key: str, culprit: Expr, oid: int = 0) -> Refusal:
    error = p.error("0A000", MESSAGE, expr_location(culprit), key, detail=DETAILS[key])
    return Refusal(key, culprit, oid, error)


def check_simple(p: ParseState, expr: Expr) -> Refusal | None:
    """Return the first node, from the root down and left to right, that a row filter may not contain, or None.

    Raises Unknowable where that depends on an unknown function or collation.
    """
    for node in nodes(expr):
        refusal = _check(p, node)
        if refusal is not None:
            return refusal
    return None


def _check(p: ParseState, expr: Expr) -> Refusal | None:
    kind = expr.node
    if kind == "Var":
        if expr.value is not None and expr.value < 0:
            return _refuse(p, "filter-system-column", expr)
    elif kind in _OPERATORS:
        for oid in expr.operators:
            if oid >= FIRST_NORMAL_OID:
                return _refuse(p, "filter-user-operator", expr, oid)
    elif kind not in _ALLOWED:
        return _refuse(p, "filter-construct", expr)
    if expr.type >= FIRST_NORMAL_OID:
        return _refuse(p, "filter-user-type", expr, expr.type)
    if kind in _CALLS:
        for oid in expr.functions:
            if oid >= FIRST_NORMAL_OID:
                return _refuse(p, "filter-user-function", expr, oid)
            if p.cache.proc(oid).volatility != "i":
                return _refuse(p, "filter-mutable-function", expr, oid)
    for oid in (expr.collation, expr.input_collation):
        if oid < 0:
            raise Unknowable("a collation that is not visible", expr_location(expr))
        if oid >= FIRST_NORMAL_OID:
            return _refuse(p, "filter-user-collation", expr, oid)
    return None


CONSTRUCT = "PUBLICATION WHERE"


class Evidence(Struct, frozen=True):
    """The evidence for a refusal of the walk: the state of analysis, the filter as written, the refused node and the
    reason."""

    state: ParseState
    tree: Node
    refusal: Refusal


def read_filter(session: Session, relation: Relation, tree: Node) -> Filter:
    """The filter of a publication member; ``tree`` is its parse tree, with locations in the session's statement.

    Raises ServerError where the server refuses it. A filter that depends on unknown objects is not ``analysed``; its
    columns are then those that it names.
    """
    p = parse_state(session, _with_columns(session, relation))
    try:
        expr = analyze(p, tree)
        refusal = check_simple(p, expr)
    except Unknowable as unknown:
        error = _hopeless(p, tree)
        if error is not None:
            raise error from None
        return _not_analysed(session, relation, tree, unknown)
    if refusal is not None:
        refusal.error.evidence = Evidence(p, tree, refusal)
        raise refusal.error
    _refuse_role_constants(p, expr)
    columns: dict[int, None] = {}
    places: list[tuple[int, Place]] = []
    for number, location in _columns(expr):
        columns[number] = None
        places.append((number, session.place(max(location, 0))))
    frozen = tuple((session.place(location), tuple(sorted(kinds))) for location, kinds in p.frozen)
    return Filter(tree, tuple(columns), tuple(places), frozen=frozen, expr=expr)


_OF_SEQUENCES = (Column(1, "last_value", INT8), Column(2, "log_cnt", INT8), Column(3, "is_called", BOOL))


def _with_columns(session: Session, relation: Relation) -> Relation:
    """Return a sequence or a system table with its columns. It cannot be a member, but its filter is read."""
    columns: tuple[Column, ...] | None = None
    if relation.kind == "S":
        columns = _OF_SEQUENCES
    elif relation.namespace == PG_CATALOG and relation.oid < FIRST_NORMAL_OID:
        columns = session.syscache.builtin.columns(relation.name)
    return relation if columns is None else replace(relation, columns=columns)


def parse_state(session: Session, relation: Relation) -> ParseState:
    """Return the state to analyse an expression over one relation with."""
    settings = session.catalog.settings
    inputs = InputContext(session.catalog.major.number, session.syscache, lambda name: settings.get(name.lower()))
    return ParseState(session, relation, inputs, transform)


def analyze(p: ParseState, tree: Node) -> Expr:
    """The expression as the walk is to see it. Raises ServerError, Unknowable."""
    expr = coerce_to_boolean(p, transform(p, tree), CONSTRUCT)
    assign_collations(p, expr)
    if p.major.virtual_columns and any(column.generated == "v" for column in p.relation.columns):
        expr = _expand_virtual(p, expr)
    return expr


def _not_analysed(session: Session, relation: Relation, tree: Node, unknown: Unknowable) -> Filter:
    columns: dict[int, None] = {}
    places: list[tuple[int, Place]] = []
    for column, location in named_columns(session, relation, tree):
        for number in _read_by(session.catalog.relations[relation.oid], column):
            columns[number] = None
            places.append((number, session.place(location)))
    return Filter(tree, tuple(columns), tuple(places), analysed=False, unknown=unknown.reason)


def _hopeless(p: ParseState, tree: Node) -> ServerError | None:
    """Return the refusal of a filter with unknown types if no types could make it acceptable.

    The reasons are a sub-select, CURRENT_DATE and similar, and a function whose name has no candidate that is built in
    and immutable.
    """
    for kind, body in find(tree, "SubLink", "SQLValueFunction", "FuncCall"):
        key = "filter-construct"
        if kind == "FuncCall":
            try:
                named = p.cache.procs([part["String"]["sval"] for part in body["funcname"]])
            except Unknowable:
                named = []  # of a schema that is not visible: a user's function, if any
            if any(row.oid < FIRST_NORMAL_OID and row.volatility == "i" for _, row in named):
                continue
            key = (
                "filter-mutable-function"
                if any(row.oid < FIRST_NORMAL_OID for _, row in named)
                else "filter-user-function"
            )
        p.session.assume("the types in the row filter, which these files do not define")
        return p.error("0A000", MESSAGE, body.get("location", -1), key, detail=DETAILS[key])
    return None


def _read_by(relation: Relation, column: Column) -> Iterator[int]:
    """Return the columns that a reference reads: for a virtual generated column, those of its expression."""
    if column.generated != "v":
        yield column.number
        return
    for name in column.expression:
        base = relation.column(name)
        if base is not None:
            yield base.number


def _refuse_role_constants(p: ParseState, expr: Expr) -> None:
    """A constant of type regrole or regdatabase, of which no dependency can be recorded (recordDependencyOnExpr)."""
    for node in nodes(expr):
        if node.type in (REGROLE, REGDATABASE) and node.node == "Const" and not node.null:
            message = f"constant of the type {p.type_name(node.type)} cannot be used here"
            raise p.error("0A000", message, None, "filter-construct")


def _columns(expr: Expr) -> Iterator[tuple[int, int]]:
    """(attribute number, location) of every Var, in the order of the text."""
    for node in nodes(expr):
        if node.node == "Var" and node.value:
            yield node.value, node.start if node.start >= 0 else node.location


def _expand_virtual(p: ParseState, expr: Expr) -> Expr:
    """Virtual generated columns replaced by their expressions (expand_generated_columns_in_expr)."""
    if expr.node == "Var":
        column = p.relation.columns[expr.value - 1] if expr.value > 0 else None
        if column is None or column.generated != "v":
            return expr
        return _expression_of(p, column, expr.location)
    expr.args = [_expand_virtual(p, arg) for arg in expr.args]
    return expr


def _expression_of(p: ParseState, column: Column, location: int) -> Expr:
    """A virtual column's expression, of the column's type; the server no longer knows where it was written."""
    if not isinstance(column.tree, dict):
        raise Unknowable(f'the expression of column "{column.name}"', location)
    expr = transform(p, column.tree)
    result = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
    if result is None:
        raise Unknowable(f'the expression of column "{column.name}"', location)
    assign_collations(p, result)
    if column.collation and result.collation != column.collation:
        result = Expr("CollateExpr", result.type, [result], typmod=result.typmod, collation=column.collation)
    for node in nodes(result):
        # Where to point in a report, though the server has no position.
        node.start, node.location = location, -1
    return result
