"""PREPARE, EXECUTE and DEALLOCATE (commands/prepare.c), and the parameters of prepared statements and functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.expressions import Scope, compile_expression, converted, frame_of, top_level
from pubcheck.simulate.executor.statement_scope import prepare_changes, rows_of, run_changes, statement_scope
from pubcheck.simulate.not_followed import NotFollowed

# Parameters: columns of a query level that is around the statement.


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


class Prepared(Struct, frozen=True):
    """A prepared statement: its parse node with parameters as columns, and their types."""

    kind: str
    node: Node
    types: tuple[int, ...]


def prepare(session: Backend, node: Node) -> Result:
    """PREPARE. Raises ServerError 42P05, and what the analysis of the statement raises."""
    name = node["name"]
    ((kind, body),) = node["query"].items()
    types = tuple(session.catalog_session.type_oid(item["TypeName"]) for item in node.get("argtypes", ()))
    numbers = {parameter.get("number", 0) for _, parameter in find(body, "ParamRef")}
    if any(number > len(types) for number in numbers):
        raise NotFollowed("a prepared statement with a parameter of no given type")
    prepared = Prepared(kind, with_columns(body), types)
    with session.inside(parameters_level(session, (), types, [None] * len(types))):
        _analyze(session, prepared)
    if name in session.prepared:
        raise ServerError("42P05", f'prepared statement "{name}" already exists')
    session.prepared[name] = prepared
    return NOTHING


def _analyze(session: Backend, prepared: Prepared) -> None:
    scope = statement_scope(session, prepared.node)
    if prepared.kind == "SelectStmt":
        body = {key: value for key, value in prepared.node.items() if key != "withClause"}
        analyze_query(Nested(scope), {"SelectStmt": body})
    else:
        prepare_changes(session, prepared.kind, prepared.node, scope)


def execute(session: Backend, node: Node) -> Result:
    """EXECUTE. Raises ServerError 26000, 42601, and those of the statement."""
    prepared = _named(session, node["name"])
    arguments = node.get("params", ())
    if len(arguments) != len(prepared.types):
        raise ServerError(
            "42601",
            f'wrong number of parameters for prepared statement "{node["name"]}"',
            detail=f"Expected {len(prepared.types)} parameters but got {len(arguments)}.",
        )
    values = [argument_value(session, tree, oid) for tree, oid in zip(arguments, prepared.types, strict=True)]
    with session.inside(parameters_level(session, (), prepared.types, values)):
        if prepared.kind == "SelectStmt":
            return rows_of(session, prepared.node)
        return run_changes(session, prepared.kind, prepared.node)


def deallocate(session: Backend, node: Node) -> Result:
    """DEALLOCATE. Raises ServerError 26000."""
    if "name" not in node:
        session.prepared.clear()
    else:
        _named(session, node["name"])
        del session.prepared[node["name"]]
    return NOTHING


def _named(session: Backend, name: str) -> Prepared:
    if name not in session.prepared:
        raise ServerError("26000", f'prepared statement "{name}" does not exist')
    prepared: Prepared = session.prepared[name]
    return prepared
