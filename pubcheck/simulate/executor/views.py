"""Views that can be written through: the table below, its columns, the rows that the view shows
(rewrite/rewriteHandler.c: rewriteTargetView)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, compile_expression
from pubcheck.simulate.executor.row_operations import by_numbers_of
from pubcheck.simulate.executor.row_text import failing_row
from pubcheck.simulate.executor.statement_scope import condition, target_item
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
