"""What the server refuses in CREATE RULE: conditions and actions that name what is not there.

Follows parser/parse_utilcmd.c (transformRuleStmt) and rewrite/rewriteDefine.c (DefineQueryRewrite). None of it is
reported; the rule is then not created. The types of what actions compute are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.query_dependencies import read_query
from pubcheck.postgres.ddl.query_dependencies.changes import CHANGING, query_of_change, width_of_query
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.session import Session

_EVENTS = {"CMD_SELECT": "SELECT", "CMD_INSERT": "INSERT", "CMD_UPDATE": "UPDATE", "CMD_DELETE": "DELETE"}
_WITHOUT = {"CMD_SELECT": ("old", "new"), "CMD_INSERT": ("old",), "CMD_DELETE": ("new",)}
"""The rows that a rule for an event does not have."""


def refuse_rule(session: Session, relation: Relation, node: Node) -> None:
    """Raise ServerError if the server certainly refuses the condition or an action of a rule."""
    condition, event = node.get("whereClause"), node["event"]
    if condition is not None:
        _refuse_condition(session, relation, condition, event)
    for action in node.get("actions", ()):
        ((kind, body),) = action.items()
        if kind == "NotifyStmt":
            if condition is not None:
                message = "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions"
                raise ServerError("42P17", message)
            continue
        _refuse_rows(body, event)
        _refuse_names(session, relation, kind, body)
    if event == "CMD_SELECT":
        _refuse_select(session, relation, node)
    else:
        _refuse_returning(relation, node)


def _rows_named(tree: Any) -> Iterator[str]:
    """Yield OLD and NEW as often as something refers to them."""
    for _, reference in find(tree, "ColumnRef"):
        first = reference["fields"][0].get("String", {}).get("sval")
        if first in ("old", "new"):
            yield first


def _refuse_condition(session: Session, relation: Relation, condition: Node, event: str) -> None:
    """The condition is one over OLD and NEW, whose columns may be named without them."""
    there = [row for row in ("old", "new") if row not in _WITHOUT.get(event, ())]
    entry = {
        "schemaname": session.catalog.namespaces[relation.namespace].name,
        "relname": relation.name,
        "inh": True,
        "relpersistence": "p",
    }
    query = {
        "SelectStmt": {
            "targetList": [],
            "fromClause": [{"RangeVar": {**entry, "alias": {"aliasname": row}}} for row in there],
            "whereClause": condition,
        }
    }
    reading = read_query(session, query)
    if len(there) > 1 and not any(True for _ in find(condition, "SubLink")):
        for _, reference in find(condition, "ColumnRef"):
            fields = reference["fields"]
            name = fields[0].get("String", {}).get("sval", "")
            if len(fields) == 1 and relation.column(name) is not None:
                message = 'column reference "{column}" is ambiguous'
                raise ServerError("42702", message, location=reference.get("location"), column=name)
    if session.complete:
        # Loaded only for rules with conditions.
        from pubcheck.postgres.ddl.query_output_types import with_types

        with_types(session, query, reading.columns)


def _refuse_rows(action: Node, event: str) -> None:
    """Raise ServerError 42P17, 0A000 or 42P10 where an action refers to a row that is not there or not in reach."""
    named = set(_rows_named(action))
    for row in _WITHOUT.get(event, ()):
        if row in named:
            raise ServerError("42P17", f"ON {_EVENTS[event]} rule cannot use {row.upper()}")
    for row in ("old", "new"):
        if row in set(_rows_named(action.get("withClause"))):
            raise ServerError("0A000", f"cannot refer to {row.upper()} within WITH query")
    query = action.get("selectStmt", {}).get("SelectStmt", action)
    if query.get("op", "SETOP_NONE") != "SETOP_NONE" and any(_rows_named([query["larg"], query["rarg"]])):
        message = "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level"
        raise ServerError("42P10", message)


def _refuse_names(session: Session, relation: Relation, kind: str, action: Node) -> None:
    """Raise ServerError where an action names a relation or a column that certainly does not exist."""
    query = query_of_change(kind, action)
    if query is not None:
        read_query(session, query, rule_of=relation)
    target = session.find_relation(action["relation"]) if kind in CHANGING else None
    if kind == "InsertStmt" and target is not None and target.seen and target.columns and not session.blind:
        width, room = width_of_query(action.get("selectStmt")), len(action.get("cols") or target.live())
        if width > room:
            raise ServerError("42601", "INSERT has more expressions than target columns")


def _refuse_select(session: Session, relation: Relation, node: Node) -> None:
    """ON SELECT is for views. 15 makes a view of a table whose columns are those of the query."""
    if not relation.seen:
        return
    if relation.kind != "v" and session.catalog.major.select_rules_of_views_only:
        raise ServerError("42809", f'relation "{relation.name}" cannot have ON SELECT rules')
    if relation.kind == "v" and not node.get("replace"):
        raise ServerError("55000", f'"{relation.name}" is already a view')
    columns = relation.live()
    for action in node.get("actions", ())[:1] if columns else ():
        outputs = read_query(session, action).columns if "SelectStmt" in action else None
        for number, (column, output) in enumerate(zip(columns, outputs or (), strict=False), 1):
            if column.name != output.name:
                message = f'SELECT rule\'s target entry {number} has different column name from column "{column.name}"'
                raise ServerError("42P17", message)
    if node["rulename"] != "_RETURN":
        raise ServerError("42P17", f'view rule for "{relation.name}" must be named "_RETURN"')


def _refuse_returning(relation: Relation, node: Node) -> None:
    """RETURNING is for one action of a rule that is INSTEAD and without a condition (checkRuleResultList)."""
    bodies = [body for action in node.get("actions", ()) for body in action.values()]
    lists = [body["returningClause"] for body in bodies if "returningClause" in body]
    if len(lists) > 1:
        raise ServerError("0A000", "cannot have multiple RETURNING lists in a rule")
    if not lists:
        return
    if "whereClause" in node:
        raise ServerError("0A000", "RETURNING lists are not supported in conditional rules")
    if not node.get("instead"):
        raise ServerError("0A000", "RETURNING lists are not supported in non-INSTEAD rules")
    exprs = lists[0]["exprs"]
    if relation.seen and relation.columns and not any(True for _ in find(exprs, "A_Star")):
        room = len(relation.live())
        if len(exprs) != room:
            raise ServerError("42P17", f"RETURNING list has too {'few' if len(exprs) < room else 'many'} entries")
