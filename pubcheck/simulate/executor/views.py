"""Views that can be written through (rewriteHandler.c: rewriteTargetView): the table below, its columns, the rows that
the view shows; and rules that run another statement instead of the one that names their relation (RewriteQuery).

The statement becomes a source of the rule's action: OLD are the rows that it names, and NEW their new values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, compile_expression
from pubcheck.simulate.executor.row_operations import by_numbers_of
from pubcheck.simulate.executor.row_text import failing_row
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.executor.statement_scope import Changes, Rows, condition, target_item
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.targets import EVENTS
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.heap import Version


class Target:
    """What a statement names, and the table that it changes. ``sees`` gives a row of the view, None if it shows none;
    it is None where the statement names the table itself."""

    is_view = False
    sees: Callable[[Any], Any] | None = None

    def __init__(self, relation: Relation) -> None:
        self.relation = self.named = relation

    def base_column(self, column: Column) -> Column:
        return column

    def base_number(self, number: int) -> int:
        return number

    def named_row(self, values: Any) -> Any:
        """A row of the table by the numbers of the relation that the statement names."""
        return values

    def check_option(self, session: Backend, stored: Version) -> None:
        """WITH CHECK OPTION of a view (ExecWithCheckOptions). Raises ServerError 44000."""

    def base_row(self, session: Backend, stored: Version) -> Any:
        """A stored row by the numbers of the table that is changed."""
        if stored.table == self.relation.oid:
            return stored
        return by_numbers_of(session.database.catalog.relations[stored.table], self.relation, stored)

    def row_of(self, session: Backend, stored: Version) -> Any:
        """A stored row by the numbers of the relation that the statement names, as RETURNING sees it."""
        if stored.table != self.relation.oid:
            return by_numbers_of(session.database.catalog.relations[stored.table], self.relation, stored)
        table = table_of(session, self.relation)
        return table.with_virtual(stored) if table.virtual else stored


class _ViewRow(dict[int, Any]):
    """A row of a view by its column numbers. The columns that are expressions are worked out when they are read."""

    below: Any
    computed: dict[int, Step]

    def __missing__(self, number: int) -> Any:
        value = self[number] = self.computed[number]((self.below,))
        return value


class ViewTarget(Target):
    """A view over one table."""

    is_view = True

    def __init__(self, session: Backend, view: Relation, base: Relation, columns: tuple[int, ...]) -> None:
        self.named, self.relation = view, base
        self._numbers = {column.number: columns[index] for index, column in enumerate(view.live())}
        self._base = {column.number: column for column in base.live()}
        self._condition = _condition(session, view, base)
        computed = [number for number, column in self._numbers.items() if not column]
        self._computed = _computed_columns(session, view, computed) if computed else {}
        self.sees = self._shown
        node = session.database.catalog.definitions[("view", view.oid)]
        self._checks = node.get("withCheckOption", "NO_CHECK_OPTION") != "NO_CHECK_OPTION"

    def base_column(self, column: Column) -> Column:
        return self._base[self.base_number(column.number)]

    def base_number(self, number: int) -> int:
        base = self._numbers[number]
        if not base:
            raise NotFollowed("a view column that is an expression")
        return base

    def _shown(self, row: Any) -> Any:
        if self._condition is not None and self._condition((row,)) is not True:
            return None
        return self.named_row(row)

    def named_row(self, values: Any) -> Any:
        row = _ViewRow({number: values[base] for number, base in self._numbers.items() if base})
        row.below, row.computed = values, self._computed
        return row

    def check_option(self, session: Backend, stored: Version) -> None:
        if not self._checks or self._condition is None:
            return
        if self._condition((self.base_row(session, stored),)) is not True:
            table = table_of(session, session.database.catalog.relations[stored.table])
            message = f'new row violates check option for view "{self.named.name}"'
            raise ServerError("44000", message, detail=failing_row(table, stored))

    def row_of(self, session: Backend, stored: Version) -> Any:
        return self.named_row(self.base_row(session, stored))


def base_target(session: Backend, relation: Relation, *operations: str) -> Target:
    """The target behind a name, for some operations. Raises NotFollowed for views that are not plain, and for rules."""
    catalog = session.database.catalog
    for row in catalog.others.values():
        if row.namespace == relation.oid and row.kind == "rule" and not _harmless(session, row.oid, operations):
            raise NotFollowed(f'the rule "{row.name}"')
    if relation.kind != "v":
        return Target(relation)
    shown = catalog.shown.get(relation.oid)
    triggers = any(fires_instead(session, relation, operation) for operation in operations)
    base = catalog.relations.get(shown.table) if shown is not None else None
    if shown is None or triggers or base is None or base.kind not in "rp":
        raise NotFollowed(f'changes of the view "{relation.name}"')
    return ViewTarget(session, relation, base, shown.columns)


def fires_instead(session: Backend, view: Relation, operation: str) -> bool:
    """Whether a view has a row trigger that an operation runs instead of changing rows."""
    catalog = session.database.catalog
    rows = (row for row in catalog.others.values() if row.kind == "trigger" and row.namespace == view.oid)
    nodes = (catalog.definitions[("trigger", row.oid)] for row in rows)
    return any(node.get("row") and node["events"] & EVENTS[operation] for node in nodes)


def _harmless(session: Backend, oid: int, operations: tuple[str, ...]) -> bool:
    """Whether a rule changes no rows: one of other operations, DO ALSO NOTIFY, or DO ALSO NOTHING."""
    node = session.database.catalog.definitions[("rule", oid)]
    if node["event"].removeprefix("CMD_").lower() not in operations:
        return True
    return not node.get("instead") and all("NotifyStmt" in action for action in node.get("actions", ()))


def _computed_columns(session: Backend, view: Relation, numbers: list[int]) -> dict[int, Step]:
    """Columns of a view that are expressions, as functions of rows of its table."""
    level = Nested(Scope(session))
    targets = analyze_select(level, session.database.catalog.definitions[("view", view.oid)]["query"]["SelectStmt"])
    if targets is None:
        raise NotFollowed("the columns of a SELECT")
    shown = [target.expr for target in targets if not target.junk]
    columns = zip(view.live(), shown, strict=True)
    return {
        column.number: compile_expression(session, level, expr) for column, expr in columns if column.number in numbers
    }


def _condition(session: Backend, view: Relation, base: Relation) -> Step | None:
    node = session.database.catalog.definitions[("view", view.oid)]
    query = node["query"]["SelectStmt"]
    if "options" in node:
        raise NotFollowed(f'the view "{view.name}" with options')
    if "whereClause" not in query:
        return None
    scope = Scope(session)
    target_item(session, scope, base, query["fromClause"][0]["RangeVar"])
    return condition(session, scope, query["whereClause"])


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
