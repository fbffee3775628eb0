"""The analysis of INSERT, UPDATE, DELETE and MERGE, for the errors that come before they start (parser/analyze.c,
parse_target.c, parse_merge.c; constants are folded as the planner folds them).
"""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.from_clause import from_clause
from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.parse_state import NOTHING
from pubcheck.postgres.analysis.pathways import can_coerce
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.analysis.select import analyze_query, with_clause
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor import Context, prepare
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session


def analyze_write(session: Session, row: Relation, kind: str, body: Node, enclosing_block: Node | None) -> None:
    """Raises ServerError where the server refuses a statement on a table before it starts, Unknowable where that
    cannot be known. ``around``: the WITH clause of the whole statement."""
    p = Nested(parse_state(session, NOTHING))
    if enclosing_block is not None:
        _with(p, enclosing_block)
    if kind == "InsertStmt":
        _insert(p, row, body)
    else:
        _change(p, row, kind, body)
    for item in body.get("returningClause", {}).get("exprs", ()):
        p.clause = "RETURNING"
        if "A_Star" not in item["ResTarget"]["val"].get("ColumnRef", {}).get("fields", ({},))[-1]:
            _folded(p, p.transform(item["ResTarget"]["val"]))


def _change(p: Nested, row: Relation, kind: str, body: Node) -> None:
    """UPDATE, DELETE, MERGE."""
    sources = [*body.get("fromClause", ()), *body.get("usingClause", ())]
    if kind == "MergeStmt":
        sources.append(body["sourceRelation"])
    from_clause(p, [{"RangeVar": body["relation"]}, *sources], analyze_query)
    for key in ("whereClause", "joinCondition"):
        _condition(p, body.get(key))
    _assignments(p, row, body.get("targetList", ()))
    for item in body.get("mergeWhenClauses", ()):
        _action(p, row, item["MergeWhenClause"])


def _with(p: Nested, clause: Node) -> None:
    """A WITH query that changes data is unknown here: each such query is a separate statement."""
    queries = [item for item in clause["ctes"] if "SelectStmt" in item["CommonTableExpr"]["ctequery"]]
    for item in clause["ctes"]:
        p.queries[item["CommonTableExpr"]["ctename"]] = None
    with_clause(p, {**clause, "ctes": queries})


def _condition(p: Nested, tree: Node | None, clause: str = "WHERE") -> None:
    if tree is not None:
        p.clause = clause
        _folded(p, coerce_to_boolean(p, p.transform(tree), clause))


def _folded(p: Nested, expr: Expr) -> None:
    """Fold the constants of an expression. Raises ServerError if that fails."""
    assign_collations(p, expr)
    for node in nodes(expr):
        if node.node == "Var":
            node.value = 1  # some column: which does not matter
    failure = prepare(expr, Context(p.inputs)).failure
    if isinstance(failure, ServerError):
        raise failure


def _assign(p: Nested, column: Column, tree: Node) -> None:
    """transformAssignedExpr."""
    if "SetToDefault" in tree or not column.type:
        return
    expr = p.transform(tree)
    coerced = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
    if coerced is None:
        raise _mistyped(p, column, expr.type)
    _folded(p, coerced)


def _mistyped(p: Nested, column: Column, expr_type: int) -> ServerError:
    types = f"of type {p.type_name(column.type)} but expression is of type {p.type_name(expr_type)}"
    message = f'column "{column.name}" is {types}'
    return ServerError("42804", message, hint="You will need to rewrite or cast the expression.")


def _assignments(p: Nested, row: Relation, targets: Sequence[Node]) -> None:
    """SET of an UPDATE (transformUpdateTargetList)."""
    p.clause = "UPDATE"
    names: set[str] = set()
    for target in (item["ResTarget"] for item in targets):
        column = row.column(target["name"])
        if column is None or "indirection" in target:
            continue
        if column.name in names:
            raise ServerError("42601", f'multiple assignments to same column "{column.name}"')
        names.add(column.name)
        several = target["val"].get("MultiAssignRef")
        if several is None:
            _assign(p, column, target["val"])
        else:
            _assign_part(p, column, several)


def _assign_part(p: Nested, column: Column, several: Node) -> None:
    """Assign one of the columns of SET (a, b) = ROW (...) or a sub-select."""
    source, index = several["source"], several["colno"] - 1
    parts = source.get("RowExpr", {}).get("args", ())
    if "SubLink" in source:
        inner = Nested(p)
        outputs = analyze_query(inner, source["SubLink"]["subselect"])
        if outputs is None:
            return
        if len(outputs) != several["ncolumns"]:
            raise ServerError("42601", "number of columns does not match number of values")
        if column.type and not can_coerce(p.cache, outputs[index].type, column.type, "a"):
            raise _mistyped(p, column, outputs[index].type)
    elif parts:
        if len(parts) != several["ncolumns"]:
            raise ServerError("42601", "number of columns does not match number of values")
        _assign(p, column, parts[index])


def _insert(p: Nested, row: Relation, body: Node) -> None:
    """INSERT with ON CONFLICT (transformInsertStmt)."""
    source = body.get("selectStmt", {}).get("SelectStmt", {})
    columns = _columns(row, body.get("cols", ()))
    if "valuesLists" in source and not source.keys() & {"withClause", "sortClause", "limitCount", "limitOffset"}:
        for values in source["valuesLists"]:
            _values(p, columns, values["List"].get("items", ()), named="cols" in body)
    elif source:
        outputs = analyze_query(Nested(p), {"SelectStmt": source}) or []
        _refuse_number(columns, len(outputs), named="cols" in body and bool(outputs))
        written = [item["ResTarget"]["val"] for item in source.get("targetList", ())]
        for index, (column, output) in enumerate(zip(columns, outputs, strict=False)):
            if len(written) == len(outputs) and "A_Const" in written[index]:
                _assign(p, column, written[index])  # its type is the column's, and text only where nobody asks
            elif column.type and output.type and not can_coerce(p.cache, output.type, column.type, "a"):
                raise _mistyped(p, column, output.type)
    conflict = body.get("onConflictClause", {})
    target = {"RangeVar": body["relation"]}
    from_clause(p, [target, {"RangeVar": {**body["relation"], "alias": {"aliasname": "excluded"}}}], analyze_query)
    _condition(p, conflict.get("whereClause"))
    _assignments(p, row, conflict.get("targetList", ()))
    p.items = p.items[:1]  # RETURNING does not see what was excluded


def _columns(row: Relation, named: Sequence[Node]) -> list[Column]:
    """checkInsertTargets."""
    if not named:
        return list(row.live())
    columns = [row.column(item["ResTarget"]["name"]) for item in named]
    if len({item["ResTarget"]["name"] for item in named}) < len(named):
        raise ServerError("42701", "column specified more than once")
    return [column for column in columns if column is not None]


def _values(p: Nested, columns: Sequence[Column], values: Sequence[Node], *, named: bool) -> None:
    """transformInsertRow."""
    _refuse_number(columns, len(values), named=named)
    p.clause = "VALUES"
    for column, value in zip(columns, values, strict=False):
        _assign(p, column, value)


def _refuse_number(columns: Sequence[Column], count: int, *, named: bool) -> None:
    if count > len(columns):
        raise ServerError("42601", "INSERT has more expressions than target columns")
    if named and count < len(columns):
        raise ServerError("42601", "INSERT has more target columns than expressions")


def _action(p: Nested, row: Relation, clause: Node) -> None:
    """A WHEN clause of MERGE (transformMergeStmt)."""
    _condition(p, clause.get("condition"), "MERGE WHEN AND")
    if clause["commandType"] == "CMD_UPDATE":
        _assignments(p, row, clause.get("targetList", ()))
    elif clause["commandType"] == "CMD_INSERT" and "values" in clause:
        named = clause.get("targetList", ())
        _values(p, _columns(row, named), clause["values"], named=bool(named))
