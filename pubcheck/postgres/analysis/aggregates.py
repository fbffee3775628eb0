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


def same(one: Expr, other: Expr) -> bool:
    """equal() of two analysed expressions: places do not count."""
    if (
        one.node != other.node
        or one.type != other.type
        or one.typmod != other.typmod
        or one.functions != other.functions
        or one.operators != other.operators
        or one.null != other.null
        or len(one.args) != len(other.args)
    ):
        return False
    if one.node == "SubLink":
        return one is other
    return bool(one.value == other.value) and all(map(same, one.args, other.args))


def _with_references(expr: Expr) -> Iterator[Expr]:
    """An expression's nodes, and what sub-selects refer to outside of themselves."""
    for at in nodes(expr):
        yield at
        if at.node == "SubLink":
            yield from at.value[2]


def place_aggregate(p: Nested, made: Expr, others: list[Expr]) -> Expr:
    """Find the level that an aggregate belongs to; ``others``: its FILTER and what it sorts by.

    Raises ServerError 42803, 0A000 (check_agglevels_and_constraints).
    """
    chain = list(levels(p))
    columns: list[int] = []
    aggregates: list[tuple[int, Expr]] = []
    for argument in [*made.args, *others]:
        for at in nodes(argument):
            _plain_argument(p, at)
        for at in _with_references(argument):
            if at.node == "Var":
                columns.append(chain.index(level_of(at, p)))
            elif at.node == "Aggref":
                aggregates.append((chain.index(level_of(at, p)), at))
    lowest = min((level for level, _ in aggregates), default=len(chain))
    level = min([*columns, lowest], default=0)
    if level == len(chain):
        level = 0
    if aggregates and level == lowest:
        inner = next(at for depth, at in aggregates if depth == level)
        raise p.error("42803", "aggregate function calls cannot be nested", inner.location)
    state = chain[level]
    if isinstance(state, Nested):
        state.has_aggregates = True
    if state.clause not in _WITH_AGGREGATES:
        what = "aggregate functions"
        raise p.error("42803", OUT_OF_PLACE, made.location, "out-of-place", what=what, clause=state.clause)
    made.value = (state,)
    for passed in chain[:level]:
        assert isinstance(passed, Nested)
        passed.outer.append(made)
    return made


def _plain_argument(p: Nested, at: Expr) -> None:
    if at.node == "WindowFunc":
        raise p.error("42803", "aggregate function calls cannot contain window function calls", at.location)
    if at.node in ("FuncExpr", "OpExpr") and any(p.cache.proc(oid).returns_set for oid in at.functions if oid):
        message = "aggregate function calls cannot contain set-returning function calls"
        hint = "You might be able to move the set-returning function into a LATERAL FROM item."
        raise p.error("0A000", message, expr_location(at), hint=hint)


def place_window(p: Nested, made: Expr, over: Node) -> Expr:
    """Raises ServerError 42P20, 42704 (transformWindowFuncCall)."""
    for argument in made.args:
        for at in nodes(argument):
            if at.node == "WindowFunc":
                raise p.error("42P20", "window function calls cannot be nested", at.location)
    if p.clause not in _WITH_WINDOWS:
        what = "window functions"
        raise p.error("42P20", OUT_OF_PLACE, made.location, "out-of-place", what=what, clause=p.clause)
    name = over.get("name")
    if name is None:
        p.window_definitions.append(over)
    elif name not in p.windows:
        raise p.error("42704", f'window "{name}" does not exist', over.get("location", -1))
    return made


def check_grouping(p: Nested, clauses: list[Expr], groups: list[Expr]) -> None:
    """Columns next to aggregates and GROUP BY must be grouped (parseCheckAggregates). Raises ServerError 42803."""
    if p.has_grouping_sets:
        return
    for clause in clauses:
        _check_ungrouped(p, clause, groups)


def _check_ungrouped(p: Nested, clause: Expr, groups: list[Expr]) -> None:
    stack = [(clause, False)]
    while stack:
        at, inside = stack.pop()
        if at.node in ("Aggref", "GroupingFunc"):
            continue
        if at.node == "Var":
            if level_of(at, p) is p and not _grouped(p, at, groups):
                raise _ungrouped(p, at, inside)
            continue
        if not inside and any(same(at, group) for group in groups):
            continue
        if at.node == "SubLink":
            stack += [(one, True) for one in reversed(at.value[2])]
        stack += [(one, inside) for one in reversed(at.args)]


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
