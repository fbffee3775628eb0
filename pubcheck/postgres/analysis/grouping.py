"""Groups and order in sub-selects: aggregates and window functions, where they are allowed and next to which columns
(parse_agg.c); ORDER BY, GROUP BY, DISTINCT, LIMIT and WINDOW (parse_clause.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_specific_type, coerce_type
from pubcheck.postgres.analysis.namespace_items import Nested, Window, column_named, level_of, levels
from pubcheck.postgres.analysis.operators import find_operator
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location, node_location
from pubcheck.postgres.errors import OUT_OF_PLACE, ServerError
from pubcheck.postgres.oids import INT8, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr, nodes
from pubcheck.postgres.session.syscache import GREATER, LESS

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


class Target:
    """An entry of the select list; ``junk``: there only to sort or group by."""

    __slots__ = ("expr", "junk", "name", "output")

    def __init__(self, name: str, expr: Expr, junk: bool = False) -> None:
        self.name, self.expr, self.junk = name, expr, junk
        self.output: Expr | None = None
        """In an arm of a set operation: the expression as the type that all arms agree on."""


def sort(p: Nested, clauses: list[Node], targets: list[Target]) -> list[Target]:
    """ORDER BY. Raises ServerError 42P10, 42601, 42702, 42883, 42809 (transformSortClause)."""
    sort_targets: list[Target] = []
    for clause in clauses:
        by = clause["SortBy"]
        target = _target(p, by["node"], targets, "ORDER BY")
        _resolve(p, target)
        place: int = by.get("location", -1) if "useOp" in by else -1
        order(p, target.expr, place if place >= 0 else expr_location(target.expr), by.get("useOp"))
        p.query.sort.append((target, by))
        if target not in sort_targets:
            sort_targets.append(target)
    return sort_targets


def order(p: ParseState, expr: Expr, place: int, using: list[Node] | None = None) -> None:
    """The operator that values are sorted by (addTargetToSortList)."""
    if using is None:
        if not p.cache.type_cache(expr.type).lt:
            message = f"could not identify an ordering operator for type {p.type_name(expr.type)}"
            hint = "Use an explicit ordering operator or modify the query."
            raise p.error("42883", message, place, hint=hint)
        return
    names = names_of(using)
    row = find_operator(p, names, expr.type, expr.type, place)
    if not any(strategy in (LESS, GREATER) for _, strategy in p.cache.btree_interpretations(row.oid)):
        hint = 'Ordering operators must be "<" or ">" members of btree operator families.'
        raise p.error("42809", f"operator {'.'.join(names)} is not a valid ordering operator", place, hint=hint)


def _resolve(p: Nested, target: Target) -> None:
    if target.expr.type == UNKNOWN:
        target.expr = coerce_type(p, target.expr, UNKNOWN, TEXT, -1, "i", IMPLICIT, -1)


def _target(p: Nested, node: Node, targets: list[Target], clause: str) -> Target:
    """The entry that a name, a number or an expression means (findTargetlistEntrySQL92)."""
    reference, constant = node.get("ColumnRef"), node.get("A_Const")
    if reference is not None and len(reference["fields"]) == 1 and "String" in reference["fields"][0]:
        name, location = reference["fields"][0]["String"]["sval"], reference.get("location", -1)
        if clause != "GROUP BY" or column_named(p, name, location, local=True) is None:
            fitting = [target for target in targets if not target.junk and target.name == name]
            if any(not equal_trees(fitting[0].expr, fitting_target.expr) for fitting_target in fitting[1:]):
                raise p.error("42702", f'{clause} "{name}" is ambiguous', location)
            if fitting:
                return fitting[0]
    elif constant is not None:
        location = constant.get("location", -1)
        if "ival" not in constant:
            raise p.error("42601", f"non-integer constant in {clause}", location)
        number: int = constant["ival"].get("ival", 0)
        shown = [target for target in targets if not target.junk]
        if not 1 <= number <= len(shown):
            raise p.error("42P10", f"{clause} position {number} is not in select list", location)
        return shown[number - 1]
    return _expression(p, node, targets, clause)


def _expression(p: Nested, node: Node, targets: list[Target], clause: str) -> Target:
    """findTargetlistEntrySQL99."""
    p.clause = clause
    expr = p.transform(node)
    for target in targets:
        if equal_trees(target.expr, expr):
            return target
    targets.append(Target("", expr, junk=True))
    return targets[-1]


def group(p: Nested, clauses: list[Node], targets: list[Target], sorted_by: list[Target]) -> list[Target]:
    """GROUP BY (transformGroupClause); columns that grouping sets leave ungrouped are not checked."""
    groups: list[Target] = []
    todo: list[Any] = list(reversed(clauses))
    while todo:
        node = todo.pop()
        if "GroupingSet" in node:
            p.has_grouping_sets = True
            todo += reversed(node["GroupingSet"].get("content", ()))
            continue
        if node.get("RowExpr", {}).get("row_format") == "COERCE_IMPLICIT_CAST":
            todo += reversed(node["RowExpr"]["args"])
            continue
        target = _target(p, node, targets, "GROUP BY")
        if target in groups:
            continue
        if target not in sorted_by:
            _resolve(p, target)
            _equality(p, target.expr, node_location(node))
        groups.append(target)
    return groups


def _equality(p: Nested, expr: Expr, place: int) -> None:
    if not p.cache.type_cache(expr.type).eq:
        raise p.error("42883", f"could not identify an equality operator for type {p.type_name(expr.type)}", place)


def distinct(p: Nested, clauses: list[Node], targets: list[Target], sorted_by: list[Target]) -> None:
    """DISTINCT and DISTINCT ON (transformDistinctClause, transformDistinctOnClause)."""
    p.query.distinct = targets
    if clauses and clauses[0]:
        _distinct_on(p, clauses, targets, sorted_by)
        return
    for target in sorted_by:
        if target.junk:
            message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
            raise p.error("42P10", message, expr_location(target.expr))
    for target in targets:
        if not target.junk and target not in sorted_by:
            _resolve(p, target)
            _equality(p, target.expr, expr_location(target.expr))
    if not targets:
        raise p.error("42601", "SELECT DISTINCT must have at least one column")


def _distinct_on(p: Nested, clauses: list[Node], targets: list[Target], sorted_by: list[Target]) -> None:
    chosen: list[tuple[Target, Node]] = [(_target(p, node, targets, "DISTINCT ON"), node) for node in clauses]
    distinct_targets = [target for target, _ in chosen]
    p.query.distinct = distinct_targets
    covered: list[Target] = []
    skipped = False
    for target in sorted_by:
        if target not in distinct_targets:
            skipped = True
        elif skipped:
            raise _initial(p, node_location(next(node for candidate, node in chosen if candidate is target)))
        else:
            covered.append(target)
    for target, node in chosen:
        if target in covered:
            continue
        if skipped:
            raise _initial(p, node_location(node))
        _resolve(p, target)
        _equality(p, target.expr, node_location(node))


def _initial(p: Nested, place: int) -> Exception:
    return p.error("42P10", "SELECT DISTINCT ON expressions must match initial ORDER BY expressions", place)


def limit(p: Nested, node: Node, clause: str, ties: bool = False) -> None:
    """LIMIT or OFFSET (transformLimitClause)."""
    p.clause = clause
    expr = coerce_to_specific_type(p, p.transform(node), INT8, clause)
    p.query.limits[clause] = expr
    p.query.with_ties = p.query.with_ties or ties
    for inner in nodes(expr):
        if inner.node == "Var" and level_of(inner, p) is p:
            raise p.error("42P10", f"argument of {clause} must not contain variables", inner.location)
    if ties and "A_Const" in node and node["A_Const"].get("isnull"):
        raise p.error("22004", "row count cannot be null in FETCH FIRST ... WITH TIES clause")


def windows(p: Nested, clauses: list[Node], targets: list[Target]) -> None:
    """Analyse the definitions of windows (transformWindowDefinitions)."""
    names: set[str] = set()
    for definition in [*(clause["WindowDef"] for clause in clauses), *p.window_definitions]:
        location: int = definition.get("location", -1)
        name, former = definition.get("name"), definition.get("refname")
        if name is not None and name in names:
            raise p.error("42P20", f'window "{name}" is already defined', location)
        if former is not None and former not in (names if name is not None else p.windows):
            raise p.error("42704", f'window "{former}" does not exist', location)
        window = Window([], [], definition.get("frameOptions", 0))
        window.start, window.end = definition.get("startOffset"), definition.get("endOffset")
        p.query.windows[id(definition) if name is None else name] = window
        for by in definition.get("orderClause", ()):
            target = _expression(p, by["SortBy"]["node"], targets, "window definitions")
            _resolve(p, target)
            order(p, target.expr, expr_location(target.expr), by["SortBy"].get("useOp"))
            window.order.append((target.expr, by["SortBy"]))
        for node in definition.get("partitionClause", ()):
            target = _expression(p, node, targets, "window definitions")
            _resolve(p, target)
            _equality(p, target.expr, node_location(node))
            window.partition.append(target.expr)
        if former is not None:
            _copy_window(p, p.query.windows[former], window, definition)
        if name is not None:
            names.add(name)


def _copy_window(p: Nested, former: Window, window: Window, definition: Node) -> None:
    """Make a window of another one, whose division and order it has. Raises ServerError 42P20."""
    name, location = definition["refname"], definition.get("location", -1)
    if window.partition:
        raise p.error("42P20", f'cannot override PARTITION BY clause of window "{name}"', location)
    if window.order and former.order:
        raise p.error("42P20", f'cannot override ORDER BY clause of window "{name}"', location)
    if former.frame != _DEFAULT_FRAME:
        is_bare = not window.order and window.frame == _DEFAULT_FRAME and "name" not in definition
        hint = "Omit the parentheses in this OVER clause." if is_bare else None
        raise p.error("42P20", f'cannot copy window "{name}" because it has a frame clause', location, hint=hint)
    window.partition, window.order = former.partition, window.order or former.order


_DEFAULT_FRAME = 0x422
"""FRAMEOPTION_DEFAULTS: RANGE from the first row to the current one."""
