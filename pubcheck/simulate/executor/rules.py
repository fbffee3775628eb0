"""Rules that run another statement instead of the one that names their table or view (rewriteHandler.c: RewriteQuery).

The statement becomes a source of the rule's action: OLD are the rows that it names, and NEW their new values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.executor.statement_scope import Changes, Rows
from pubcheck.simulate.not_followed import NotFollowed

_TARGETS = {"UpdateStmt": "fromClause", "DeleteStmt": "usingClause"}
_ONLY = {
    "DeleteStmt": {"relation", "whereClause"},
    "UpdateStmt": {"relation", "whereClause", "targetList"},
    "InsertStmt": {"relation", "cols", "selectStmt", "override"},
}
"""What statements may have."""
_OLD = "old"
_PLAIN = "OVERRIDING_NOT_SET"


def instead_action(session: Backend, kind: str, node: Node, relation: Relation) -> tuple[str, Node] | None:
    """Return the statement that a rule runs instead of a DELETE or UPDATE; None if no rule does. Raises NotFollowed for
    rules and statements that are not simple."""
    rule = _rule(session, kind, relation)
    if rule is None:
        return None
    ((action_kind, action),) = rule["actions"][0].items()
    if (
        is_replica(session)
        or not _is_simple(kind, node)
        or not _is_simple(action_kind, action)
        or "whereClause" in rule
    ):
        raise NotFollowed(f'the rule "{rule["rulename"]}"')
    alias = node["relation"].get("alias", {}).get("aliasname", relation.name)
    own = {column.name: {"ColumnRef": {"fields": _fields(_OLD, column.name)}} for column in relation.live()}
    where = [_replaced(node["whereClause"], _columns_of(alias, own))] if "whereClause" in node else []
    new = dict(own)
    for item in node.get("targetList", ()):
        target = item["ResTarget"]
        if "indirection" in target or target.get("val", {}).keys() & {"SetToDefault", "MultiAssignRef"}:
            raise NotFollowed(f'the rule "{rule["rulename"]}"')
        new[target["name"]] = _replaced(target["val"], _columns_of(alias, own))
    source = {"RangeVar": {**node["relation"], "alias": {"aliasname": _OLD}}}
    return action_kind, _action(session, action_kind, action, {"old": own, "new": new}, source, where)


def _rule(session: Backend, kind: str, relation: Relation) -> Node | None:
    """The only rule of the operation, if it is an INSTEAD rule with one action."""
    catalog, event = session.database.catalog, f"CMD_{kind.removesuffix('Stmt').upper()}"
    rows = (row for row in catalog.others.values() if row.kind == "rule" and row.namespace == relation.oid)
    nodes = [catalog.definitions[("rule", row.oid)] for row in rows]
    nodes = [node for node in nodes if node["event"] == event]
    if len(nodes) != 1 or not nodes[0].get("instead") or len(nodes[0].get("actions", ())) != 1:
        return None
    return nodes[0] if next(iter(nodes[0]["actions"][0])) in _ONLY else None


def _is_simple(kind: str, node: Node) -> bool:
    return kind in _ONLY and node.keys() <= _ONLY[kind] and node["relation"].get("inh", False)


def _action(
    session: Backend, kind: str, action: Node, rows: dict[str, dict[str, Node]], source: Node, where: list[Node]
) -> Node:
    """The action with the rows of the statement as its source."""
    if kind == "InsertStmt":
        select = action.get("selectStmt", {}).get("SelectStmt", {})
        values = select.get("valuesLists", ())
        if len(values) != 1 or action.get("override", _PLAIN) != _PLAIN:
            raise NotFollowed("a rule with an INSERT of another form than VALUES")
        items = [_replaced(item, _old_and_new(rows, {})) for item in values[0]["List"]["items"]]
        query = {
            "targetList": [{"ResTarget": {"val": item}} for item in items],
            "fromClause": [source],
            "limitOption": "LIMIT_OPTION_DEFAULT",
            "op": "SETOP_NONE",
            **_where(where),
        }
        return {**action, "selectStmt": {"SelectStmt": query}}
    target = session.catalog_session.find_relation(action["relation"])
    if target is None or target.name == _OLD:
        raise NotFollowed("the table of a rule")
    name = action["relation"].get("alias", {}).get("aliasname", target.name)
    own = {column.name: {"ColumnRef": {"fields": _fields(name, column.name)}} for column in target.live()}
    replace = _old_and_new(rows, _columns_of(name, own))
    conditions = [_replaced(action["whereClause"], replace)] if "whereClause" in action else []
    changed = {**action, _TARGETS[kind]: [source], **_where([*conditions, *where])}
    if kind == "UpdateStmt":
        changed["targetList"] = [
            {"ResTarget": {**item["ResTarget"], "val": _replaced(item["ResTarget"]["val"], replace)}}
            for item in action["targetList"]
        ]
    return changed


_Names = Callable[[tuple[str, ...]], "Node | None"]
"""Returns the expression for the parts of a name; None for one that is unknown."""


def _columns_of(alias: str, columns: dict[str, Node]) -> _Names:
    return lambda parts: columns.get(parts[-1]) if parts[:-1] in ((), (alias,)) else None


def _old_and_new(rows: dict[str, dict[str, Node]], others: _Names | dict[str, Node]) -> _Names:
    def name(parts: tuple[str, ...]) -> Node | None:
        if len(parts) == 2 and parts[0] in rows:
            return rows[parts[0]].get(parts[1])
        return others(parts) if callable(others) else None

    return name


def _replaced(tree: Any, name: _Names) -> Any:
    """An expression with other columns. Raises NotFollowed for one with a sub-select or an unknown name."""
    if isinstance(tree, list):
        return [_replaced(item, name) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.keys() & {"SubLink", "SetToDefault", "CurrentOfExpr", "MultiAssignRef"}:
        raise NotFollowed("a rule with sub-selects")
    if "ColumnRef" in tree:
        fields = tree["ColumnRef"]["fields"]
        column = name(tuple(_names(fields)))
        if column is None:
            raise NotFollowed("a rule with names that are not those of columns")
        return column
    return {key: _replaced(value, name) for key, value in tree.items()}


def _names(fields: list[Node]) -> Iterator[str]:
    for field in fields:
        yield field.get("String", {}).get("sval", "*")


def _fields(*names: str) -> list[Node]:
    return [{"String": {"sval": name}} for name in names]


def _where(conditions: list[Node]) -> Node:
    if len(conditions) < 2:
        return {"whereClause": conditions[0]} if conditions else {}
    return {"whereClause": {"BoolExpr": {"boolop": "AND_EXPR", "args": conditions}}}


def without_rows(changes: Changes, *, counted: bool) -> Changes:
    """The changes of a rule's action. Its rows count only if it is a statement of the same kind as the one that it
    replaces."""

    def run() -> Rows:
        for _ in changes.run():
            if counted:
                yield ()

    return Changes([], run)
