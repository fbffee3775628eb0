"""INSERT (parser/analyze.c: transformInsertStmt; executor/nodeModifyTable.c: ExecInsert).

ON CONFLICT: the unique indexes that decide (optimizer/util/plancat.c: infer_arbiter_indexes), and what is done
(execIndexing.c: ExecCheckIndexConstraints, nodeModifyTable.c: ExecOnConflictUpdate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.namespace_items import Nested, refuse_variable
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr, conjuncts, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.changes import conflicting, excluded_by
from pubcheck.simulate.executor.expressions import Scope, Step, assign, assigned, compile_expression
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.row_operations import (
    by_numbers_of,
    insert_row,
    leaf_of,
    lock,
    ready_row,
    store_row,
    update_row,
)
from pubcheck.simulate.executor.statement_scope import Changes, Rows, condition, returning, target_item
from pubcheck.simulate.executor.tables import Exclusion, Table, Unique, table_of
from pubcheck.simulate.executor.targets import refuse_write, target_relation
from pubcheck.simulate.executor.triggers import (
    Event,
    InsteadTriggers,
    assigned_columns,
    with_statement_triggers,
)
from pubcheck.simulate.executor.views import Target, base_target, fires_instead
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

_Arbiter = TypeVar("_Arbiter", Unique, Exclusion)
Arbiters = Callable[[Table], list[Unique]]
"""The arbiters of a table: the one that the statement names, or a partition of it."""


def arbiters_of(session: Backend, table: Table, clause: Node, outer: Scope) -> Arbiters:
    """The conflict target of a statement. Raises ServerError 42P10, 42703 and 42704."""
    infer = clause.get("infer")
    if infer is None:
        return lambda leaf: [_immediate(unique) for unique in leaf.uniques]
    if "conname" in infer:
        columns = _columns_of_constraint(session, table, infer["conname"])
        return lambda leaf: [_immediate(unique) for unique in leaf.uniques if _names(leaf, unique) == columns][:1]
    for item in infer["indexElems"]:
        name = item["IndexElem"].get("name")
        if name is not None:
            if table.relation.column(name) is None:
                raise ServerError("42703", f'column "{name}" does not exist')
            refuse_variable(outer, name, item["IndexElem"].get("location", -1))

    def arbiters(leaf: Table) -> list[Unique]:
        target = _Target(session, leaf, infer)
        fitting = [_immediate(unique) for unique in leaf.uniques if target.fits(unique)]
        if not fitting:
            message = "there is no unique or exclusion constraint matching the ON CONFLICT specification"
            raise ServerError("42P10", message)
        return fitting

    arbiters(table)
    return arbiters


def of_table(clause: Node, view: Target) -> Node:
    """A conflict clause of a view as one of its table. Raises ServerError 42703, 42704."""
    infer = clause.get("infer", {})
    if "conname" in infer:
        message = f'constraint "{infer["conname"]}" for table "{view.named.name}" does not exist'
        raise ServerError("42704", message)
    elements = []
    for item in infer.get("indexElems", ()):
        name = item["IndexElem"].get("name")
        if name is None or "whereClause" in infer:
            raise NotFollowed("a conflict target of a view with an expression or a condition")
        column = view.named.column(name)
        if column is None:
            raise ServerError("42703", f'column "{name}" does not exist')
        elements.append({"IndexElem": {**item["IndexElem"], "name": view.base_column(column).name}})
    return {**clause, "infer": {**infer, "indexElems": elements}} if elements else clause


def exclusions_of(session: Backend, table: Table, clause: Node) -> Callable[[Table], list[Exclusion]]:
    """The exclusion constraints that decide: all of them without a conflict target, else the one that it names. Raises
    ServerError 42809."""
    infer = clause.get("infer")
    if infer is None:
        return lambda leaf: [_immediate(exclusion) for exclusion in leaf.exclusions]
    named = [exclusion for exclusion in table.exclusions if exclusion.name == infer.get("conname")]
    if named and clause["action"] != "ONCONFLICT_NOTHING":
        raise ServerError("42809", "ON CONFLICT DO UPDATE not supported with exclusion constraints")
    return lambda leaf: [_immediate(exclusion) for exclusion in named]


def _immediate(unique: _Arbiter) -> _Arbiter:
    if unique.constraint is not None:
        message = "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters"
        raise ServerError("55000", message)
    return unique


def _columns_of_constraint(session: Backend, table: Table, name: str) -> list[str]:
    catalog = session.database.catalog
    for oid in catalog.constraints_of.get(table.oid):
        row = catalog.constraints[oid]
        if row.name == name and row.index:
            return [table.relation.columns[number - 1].name for number in row.keys]
    raise ServerError("42704", f'constraint "{name}" for table "{table.relation.name}" does not exist')


def _names(table: Table, unique: Unique) -> list[str] | None:
    """The key columns of the index of a constraint; of any other index None."""
    index = unique.index
    if index.expressions or index.predicate is not None:
        return None
    return [table.relation.columns[number - 1].name for number in index.keys]


class _Target:
    """A conflict target, analysed over one table."""

    def __init__(self, session: Backend, table: Table, infer: Node) -> None:
        self._table = table
        self._state = parse_state(session.catalog_session, table.relation)
        self._columns: set[int] = set()
        self._expressions: list[Expr] = []
        for item in infer["indexElems"]:
            element = item["IndexElem"]
            if "collation" in element or "opclass" in element:
                raise NotFollowed("a conflict target with a collation or an operator class")
            if "name" in element:
                column = table.relation.column(element["name"])
                assert column is not None
                self._columns.add(column.number)
            else:
                self._expressions.append(analysed(self._state, element["expr"]))
        where = infer.get("whereClause")
        self._where = [] if where is None else list(conjuncts(analysed(self._state, where)))

    def fits(self, unique: Unique) -> bool:
        index = unique.index
        if {number for number in index.keys if number} != self._columns:
            return False
        expressions = [analysed(self._state, tree) for tree in index.expressions]
        if not (_all_among(self._expressions, expressions) and _all_among(expressions, self._expressions)):
            return False
        if index.predicate is None:
            return True
        return all(self._implies(part) for part in conjuncts(analysed(self._state, index.predicate)))

    def _implies(self, part: Expr) -> bool:
        """Whether the condition of the target implies a part of an index's predicate. Raises NotFollowed where that
        takes more than comparing them."""
        if any(same(part, condition) for condition in self._where):
            return True
        columns = _columns_in(part)
        if any(columns & _columns_in(condition) for condition in self._where):
            raise NotFollowed("whether the condition of a conflict target implies the predicate of an index")
        return False


def analysed(state: ParseState, tree: Any) -> Expr:
    expr = state.transform(tree)
    assign_collations(state, expr)
    return expr


def same(one: Expr, other: Expr) -> bool:
    """Whether two analysed expressions are equal (equal()), wherever they are written."""
    return (
        (one.node, one.type, one.typmod, one.collation, one.functions, one.operators, one.null)
        == (other.node, other.type, other.typmod, other.collation, other.functions, other.operators, other.null)
        and repr(one.value) == repr(other.value)
        and len(one.args) == len(other.args)
        and all(map(same, one.args, other.args))
    )


def _all_among(some: list[Expr], others: list[Expr]) -> bool:
    return all(any(same(expr, other) for other in others) for expr in some)


def _columns_in(expr: Expr) -> set[Any]:
    return {node.value for node in nodes(expr) if node.node == "Var"}


class OnConflict:
    """The conflict clause of an INSERT into a table, into the partitions of one, or through a view."""

    def __init__(self, session: Backend, outer: Scope, target: Target, node: Node) -> None:
        self.session, self.target = session, target
        self.table = table = table_of(session, target.relation)
        self.clause: Node = node["onConflictClause"]
        self.updates = self.clause["action"] == "ONCONFLICT_UPDATE"
        self.selects = self.clause["action"] == "ONCONFLICT_SELECT"
        clause = of_table(self.clause, target) if target.is_view else self.clause
        self.arbiters = arbiters_of(session, table, clause, outer)
        self.exclusions = exclusions_of(session, table, self.clause)
        self.where: Step | None = None
        self.steps: list[tuple[int, Step]] = []
        if self.selects:
            self._refuse_select(node)
        if self.updates or self.selects:
            scope = Scope(session, outer)
            target_item(session, scope, target.named, node["relation"])
            scope.add_relation(session, target.named, "excluded")
            self.where = condition(session, scope, self.clause.get("whereClause"))
        if self.updates:
            steps = assignments(session, scope, table_of(session, target.named), self.clause["targetList"])
            self.steps = [(target.base_number(number), step) for number, step in steps]

    def _refuse_select(self, node: Node) -> None:
        """Raise the server's error for a DO SELECT without what it needs (transformOnConflictArbiter)."""
        location = self.clause.get("location")
        if "returningClause" not in node:
            raise ServerError("42601", "ON CONFLICT DO SELECT requires a RETURNING clause", location=location)
        if "infer" not in self.clause:
            message = "ON CONFLICT DO SELECT requires inference specification or constraint name"
            raise ServerError("42601", message, location=location)

    def insert(self, values: Values) -> Version | None:
        """Insert a row or do what the clause says. Return the row that was inserted, updated or selected, or None."""
        session = self.session
        leaf, values = leaf_of(session, self.table.relation, values)
        if self.updates and leaf is not self.table:
            refuse_write(session, leaf, "update", certain=True)
        row = ready_row(session, leaf, values, routed=leaf is not self.table)
        if row is None:
            return None
        for unique in self.arbiters(leaf):
            index = leaf.storage.index(unique.index.oid, unique.key_of)
            key = index.key_of(row)
            other = None if key is None else conflicting(session, index.at(key), None)
            if other is not None:
                if self.updates:
                    return self._update(leaf, other, row)
                return self._select(leaf, other, row) if self.selects else None
        for exclusion in self.exclusions(leaf):
            if excluded_by(session, leaf, exclusion, row, None) is not None:
                return None
        return store_row(session, leaf, row, speculative=bool(leaf.has_indexes))

    def _update(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        session = self.session
        if self._is_own(other):
            raise ServerError(
                "21000",
                "ON CONFLICT DO UPDATE command cannot affect row a second time",
                hint="Ensure that no rows proposed for insertion within the same command have duplicate constrained "
                "values.",
            )
        lock(session, leaf, other)
        root = self.table.relation
        present, new_values = self._rows(leaf, other, proposed)
        row = self.target.named_row(present), self.target.named_row(new_values)
        if self.where is not None and self.where(row) is not True:
            return None
        changed = {**present, **{number: step(row) for number, step in self.steps}}
        new = by_numbers_of(root, leaf.relation, changed) if leaf is not self.table else changed
        assigned = frozenset(root.columns[number - 1].name for number, _ in self.steps)
        return update_row(session, leaf.relation, leaf, other, new, assigned)

    def _select(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        """ExecOnConflictSelect."""
        if self._is_own(other):
            raise NotFollowed("ON CONFLICT DO SELECT of a row that the same command inserted")
        if self.clause["locks"]:
            lock(self.session, leaf, other)
        row = tuple(map(self.target.named_row, self._rows(leaf, other, proposed)))
        return None if self.where is not None and self.where(row) is not True else other

    def _is_own(self, other: Version) -> bool:
        """Return whether this command made the row."""
        return other.xmin in self.session.current.ids and other.cmin >= self.session.command

    def _rows(self, leaf: Table, present: Values, proposed: Values) -> tuple[Values, Values]:
        """Return both rows by the numbers of the table that the statement changes."""
        if leaf is self.table:
            return present, proposed
        root = self.table.relation
        return by_numbers_of(leaf.relation, root, present), by_numbers_of(leaf.relation, root, proposed)


Values = dict[int, Any]
_OF_A_QUERY = frozenset(("withClause", "sortClause", "limitCount", "limitOffset"))


def prepare_insert(session: Backend, node: Node, outer: Scope) -> Changes:
    relation = target_relation(session, node["relation"])
    columns = target_columns(relation, node.get("cols", ()))
    instead = None
    if relation.kind == "v" and fires_instead(session, relation, "insert"):
        instead = InsteadTriggers(session, relation, "insert")
    target = Target(relation) if instead is not None else base_target(session, relation, "insert")
    table = table_of(session, target.relation)
    overriding = node.get("override", "OVERRIDING_NOT_SET")
    source = node.get("selectStmt", {}).get("SelectStmt")
    rows = source_rows(session, outer, Source(table, target, columns, overriding, "cols" in node), source)
    conflict = None
    if "onConflictClause" in node:
        conflict = OnConflict(session, outer, target, node)
    scope = Scope(session, outer)
    target_item(session, scope, relation, node["relation"])
    outputs, returned = returning(session, scope, node)

    def run() -> Rows:
        if conflict is not None and conflict.updates and table.relation.kind != "p":
            refuse_write(session, table, "update", certain=True)
        for values in rows():
            row: Any
            if instead is not None:
                row = instead.run(None, values)
            elif conflict is None:
                row = insert_row(session, target.relation, values)
            else:
                row = conflict.insert(values)
            if row is not None:
                target.check_option(session, row)
                shown = row if instead is not None else target.row_of(session, row)
                yield () if returned is None else returned((shown,))

    events: list[Event] = [("insert", frozenset())]
    if conflict is not None and conflict.updates:
        events.append(("update", assigned_columns(node["onConflictClause"])))
    return with_statement_triggers(session, relation, events, Changes(outputs, run))


class Source:
    """Where the rows of an INSERT go."""

    def __init__(self, table: Table, target: Target, columns: list[Column], overriding: str, named: bool) -> None:
        self.table, self.target, self.columns = table, target, columns
        self.overriding, self.named = overriding, named

    def base(self, column: Column) -> Column:
        return self.target.base_column(column)


def target_columns(relation: Relation, named: Iterable[Node]) -> list[Column]:
    """checkInsertTargets. Raises ServerError 42703, 42701."""
    named = list(named)
    if not named:
        return list(relation.live())
    columns: list[Column] = []
    for item in named:
        target = item["ResTarget"]
        column = relation.column(target["name"])
        if column is None:
            message = f'column "{target["name"]}" of relation "{relation.name}" does not exist'
            raise ServerError("42703", message, location=target.get("location"))
        if column in columns:
            message = f'column "{column.name}" specified more than once'
            raise ServerError("42701", message, location=target.get("location"))
        if "indirection" in target:
            raise NotFollowed("INSERT into a part of a column")
        columns.append(column)
    return columns


def source_rows(session: Backend, scope: Scope, into: Source, source: Node | None) -> Callable[[], Iterator[Values]]:
    """The rows, with defaults for the columns that the statement leaves out."""
    table = into.table
    if source is None:
        defaults = [(column.number, table.default(column)) for column in table.columns]
        return lambda: iter(({number: step(()) for number, step in defaults},))
    if "valuesLists" in source and not source.keys() & _OF_A_QUERY:
        lists = [item["List"].get("items", ()) for item in source["valuesLists"]]
        if len({len(items) for items in lists}) > 1:
            raise ServerError("42601", "VALUES lists must all be the same length")
        if len(lists) > 1:
            return _several_rows(session, scope, into, lists)
        plan = with_defaults(into, value_steps(session, scope, into, lists[0]))
        return lambda: iter(({number: step(()) for number, step in plan},))
    return query_rows(session, scope, into, source)


def _several_rows(session: Backend, scope: Scope, into: Source, lists: list[Any]) -> Callable[[], Iterator[Values]]:
    """The values of a row of VALUES are evaluated before the defaults of the other columns."""
    table = into.table
    listed = [value_steps(session, scope, into, items) for items in lists]
    defaults = [(column.number, table.default(column)) for column in table.columns if column.number not in listed[0]]

    def rows() -> Iterator[Values]:
        for steps in listed:
            values = {number: step(()) for number, step in steps.items()}
            values |= {number: step(()) for number, step in defaults}
            yield {column.number: values[column.number] for column in table.columns}

    return rows


def refuse_number(into: Source, count: int) -> None:
    if count > len(into.columns):
        raise ServerError("42601", "INSERT has more expressions than target columns")
    if into.named and count < len(into.columns):
        raise ServerError("42601", "INSERT has more target columns than expressions")


def with_defaults(into: Source, steps: dict[int, Step]) -> list[tuple[int, Step]]:
    """The steps of all columns: those of the statement, and defaults (rewriteTargetListIU)."""
    table = into.table
    return [(c.number, steps[c.number] if c.number in steps else table.default(c)) for c in table.columns]


def value_steps(session: Backend, outer: Scope, into: Source, items: Any) -> dict[int, Step]:
    """The values of one row of VALUES by column, in the order of the row (transformInsertRow)."""
    refuse_number(into, len(items))
    steps: dict[int, Step] = {}
    scope = Scope(session, outer)
    scope.clause = "VALUES"
    for column, item in zip(into.columns, items, strict=False):
        base = into.base(column)
        if "SetToDefault" in item:
            steps[base.number] = into.table.default(base)
            continue
        expr = assigned(scope, column, item)
        if refuse_value(base, into.overriding):
            steps[base.number] = into.table.default(base)
            continue
        steps[base.number] = compile_expression(session, scope, expr, in_order=True)
    return steps


def refuse_value(column: Column, overriding: str) -> bool:
    """Whether a value for an identity column is ignored. Raises ServerError 428C9 where only DEFAULT is allowed."""
    if column.generated:
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is a generated column.',
        )
    if not column.identity:
        return False
    if overriding == "OVERRIDING_USER_VALUE":
        return True
    if column.identity == "a" and overriding != "OVERRIDING_SYSTEM_VALUE":
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is an identity column defined as GENERATED ALWAYS.',
            hint="Use OVERRIDING SYSTEM VALUE to override.",
        )
    return False


def query_rows(session: Backend, outer: Scope, into: Source, source: Node) -> Callable[[], Iterator[Values]]:
    """INSERT ... SELECT: literals of no type become values of the columns, the rest is coerced."""
    inner = Nested(outer)
    inner.resolves = False
    targets = analyze_select(inner, source)
    if targets is None:
        raise NotFollowed("the columns of a SELECT")
    shown = [target for target in targets if not target.junk]
    refuse_number(into, len(shown))
    steps: dict[int, Step] = {}
    scope = Scope(session, outer)
    for number, (column, target) in enumerate(zip(into.columns, shown, strict=False)):
        expr = target.expr
        base = into.base(column)
        if refuse_value(base, into.overriding):
            continue
        if expr.type == UNKNOWN:
            target.expr = assign(scope, column, expr)
            steps[base.number] = _value_at(number)
            continue
        held = Expr("Param", expr.type, [], expr.location, typmod=expr.typmod, collation=expr.collation)
        held.value = _value_at(number)
        steps[base.number] = compile_expression(session, scope, assign(scope, column, held), in_order=True)
    query = plan(session, inner)
    every = with_defaults(into, steps)

    def rows() -> Iterator[Values]:
        if query.in_order:
            for row in query.run():
                yield {number: step(row) for number, step in every}
            return
        listed = list(query.run())
        if not query.certain and len(listed) > 1:
            raise NotFollowed("the order in which a SELECT without ORDER BY gives its rows")
        for row in listed:
            yield {number: step(row) for number, step in every}

    return rows


def _value_at(number: int) -> Step:
    return lambda row: row[number]
