"""Parameters of prepared statements and functions: columns of a query level that is around the statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, compile_expression, converted, frame_of, top_level


def with_columns(tree: Any) -> Any:
    """A tree with references to columns "$1", "$2" in place of parameters; no other column has such a name."""
    if isinstance(tree, dict):
        if "ParamRef" in tree:
            name = f"${tree['ParamRef'].get('number', 0)}"
            location = tree["ParamRef"].get("location", -1)
            return {"ColumnRef": {"fields": [{"String": {"sval": name}}], "location": location}}
        return {key: with_columns(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [with_columns(item) for item in tree]
    return tree


def parameters_level(
    session: Backend, names: Sequence[str], types: Sequence[int], values: Sequence[Any]
) -> Nested | None:
    """A query level whose columns are the parameters, by number and by name."""
    if not types:
        return None
    cache = session.catalog_session.syscache
    level = top_level(session)
    columns, row = [], []
    for number, (type_oid, value) in enumerate(zip(types, values, strict=True), 1):
        for name in (f"${number}", *names[number - 1 : number]):
            if name:
                columns.append(Output(name, type_oid, collation=cache.type(type_oid).collation))
                row.append(value)
    item = Item("", columns)
    item.name_visible = False
    level.items.append(item)
    level.entries.append(item)
    frame_of(level).row = [row]
    return level


def argument_value(session: Backend, tree: Node, type_oid: int, casts: Literal["a", "i"] = "a") -> Any:
    """An argument as its parameter's type, by the casts of assignments (EvaluateParams) or by implicit ones."""
    scope = Scope(session)
    scope.clause = "EXECUTE"
    problem = "an argument of another type than its parameter"
    expr = converted(scope, scope.transform(tree), type_oid, -1, problem, casts=casts)
    return compile_expression(session, scope, expr)(())
