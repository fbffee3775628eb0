"""Aggregates and window functions of sub-selects: where they are allowed, and next to which columns (parse_agg.c)."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.analysis.locations import expr_location
from pubcheck.postgres.analysis.namespace_items import Nested, level_of, levels
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.errors import OUT_OF_PLACE, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr, nodes

_WITH_AGGREGATES = frozenset(("SELECT", "HAVING", "ORDER BY", "DISTINCT ON", "window definitions"))
_WITH_WINDOWS = frozenset(("SELECT", "ORDER BY", "DISTINCT ON"))


def equal_trees(left: Expr, right: Expr) -> bool:
    """equal() of two analysed expressions: places do not count."""
    if (
        left.node != right.node
        or left.type != right.type
        or left.typmod != right.typmod
        or left.functions != right.functions
        or left.operators != right.operators
        or left.null != right.null
        or len(left.args) != len(right.args)
    ):
        return False
    if left.node == "SubLink":
        return left is right
    return bool(left.value == right.value) and all(map(equal_trees, left.args, right.args))


def _with_references(expr: Expr) -> Iterator[Expr]:
    """Yield an expression's nodes, and the outer references of its sub-selects."""
    for node in nodes(expr):
        yield node
        if node.node == "SubLink":
            yield from node.value[2]


def place_aggregate(p: Nested, aggregate: Expr, other_arguments: list[Expr]) -> Expr:
    """Find the level that an aggregate belongs to; ``other_arguments`` are its FILTER and ORDER BY expressions.

    Raises ServerError 42803, 0A000 (check_agglevels_and_constraints).
    """
    chain = list(levels(p))
    columns: list[int] = []
    aggregates: list[tuple[int, Expr]] = []
    for argument in [*aggregate.args, *other_arguments]:
        for node in nodes(argument):
            _plain_argument(p, node)
        for node in _with_references(argument):
            if node.node == "Var":
                columns.append(chain.index(level_of(node, p)))
            elif node.node == "Aggref":
                aggregates.append((chain.index(level_of(node, p)), node))
    lowest = min((level for level, _ in aggregates), default=len(chain))
    level = min([*columns, lowest], default=0)
    if level == len(chain):
        level = 0
    if aggregates and level == lowest:
        inner = next(node for depth, node in aggregates if depth == level)
        raise p.error("42803", "aggregate function calls cannot be nested", inner.location)
    state = chain[level]
    if isinstance(state, Nested):
        state.has_aggregates = True
    if state.clause not in _WITH_AGGREGATES:
        construct = "aggregate functions"
        raise p.error("42803", OUT_OF_PLACE, aggregate.location, "out-of-place", what=construct, clause=state.clause)
    aggregate.value = (state,)
    for passed in chain[:level]:
        assert isinstance(passed, Nested)
        passed.outer.append(aggregate)
    return aggregate


def _plain_argument(p: Nested, node: Expr) -> None:
    if node.node == "WindowFunc":
        raise p.error("42803", "aggregate function calls cannot contain window function calls", node.location)
    if node.node in ("FuncExpr", "OpExpr") and any(p.cache.proc(oid).returns_set for oid in node.functions if oid):
        message = "aggregate function calls cannot contain set-returning function calls"
        hint = "You might be able to move the set-returning function into a LATERAL FROM item."
        raise p.error("0A000", message, expr_location(node), hint=hint)


def place_window(p: Nested, window: Expr, over: Node) -> Expr:
    """Raises ServerError 42P20, 42704 (transformWindowFuncCall)."""
    for argument in window.args:
        for node in nodes(argument):
            if node.node == "WindowFunc":
                raise p.error("42P20", "window function calls cannot be nested", node.location)
    if p.clause not in _WITH_WINDOWS:
        construct = "window functions"
        raise p.error("42P20", OUT_OF_PLACE, window.location, "out-of-place", what=construct, clause=p.clause)
    name = over.get("name")
    if name is None:
        p.window_definitions.append(over)
    elif name not in p.windows:
        raise p.error("42704", f'window "{name}" does not exist', over.get("location", -1))
    return window


def check_grouping(p: Nested, clauses: list[Expr], groups: list[Expr]) -> None:
    """Columns next to aggregates and GROUP BY must be grouped (parseCheckAggregates). Raises ServerError 42803."""
    if p.has_grouping_sets:
        return
    for clause in clauses:
        _check_ungrouped(p, clause, groups)


def _check_ungrouped(p: Nested, clause: Expr, groups: list[Expr]) -> None:
    stack = [(clause, False)]
    while stack:
        node, inside = stack.pop()
        if node.node in ("Aggref", "GroupingFunc"):
            continue
        if node.node == "Var":
            if level_of(node, p) is p and not _grouped(p, node, groups):
                raise _ungrouped(p, node, inside)
            continue
        if not inside and any(equal_trees(node, group) for group in groups):
            continue
        if node.node == "SubLink":
            stack += [(child, True) for child in reversed(node.value[2])]
        stack += [(child, inside) for child in reversed(node.args)]


def _ungrouped(p: ParseState, column: Expr, inside: bool) -> ServerError:
    _, item, name = column.value
    shown = f'"{item.name}.{name or "*"}"'
    if inside:
        message = f"subquery uses ungrouped column {shown} from outer query"
    else:
        message = f"column {shown} must appear in the GROUP BY clause or be used in an aggregate function"
    return p.error("42803", message, column.location)


def _grouped(p: Nested, column: Expr, groups: list[Expr]) -> bool:
    grouped = {group.value for group in groups if group.node == "Var"}
    if column.value in grouped:
        return True
    # check_functional_grouping: the primary key says which row it is.
    _, item, _ = column.value
    if item.relation is None:
        return False
    catalog = p.session.catalog
    for oid in catalog.indexes_of.get(item.relation.oid):
        index = catalog.indexes[oid]
        if index.primary and index.immediate:
            names = [item.relation.columns[number - 1].name for number in index.keys]
            return all((p, item, name) in grouped for name in names)
    return False
