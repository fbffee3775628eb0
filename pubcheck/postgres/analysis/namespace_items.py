"""Names in a sub-select: the items of FROM, level by level (parser/parse_relation.c, transformColumnRef)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec import Struct

from pubcheck.postgres.analysis.parse_state import (
    MAX_FUZZY_DISTANCE,
    MissingColumn,
    ParseState,
    distance,
    relation_column,
    suggestion,
    whole_row,
)
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import NO_COLUMN, NO_QUALIFIED_COLUMN, ServerError, Unknowable
from pubcheck.postgres.oids import RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr


class Output(Struct, frozen=True):
    """A column that a query or an entry of FROM gives; type 0 where it cannot be known.

    ``origin``: the entry and the name of the column that it only hands on.
    """

    name: str
    type: int = 0
    typmod: int = -1
    collation: int = 0
    origin: tuple[Any, str] | None = None


class Item:
    """An entry of FROM (ParseNamespaceItem and its range table entry)."""

    def __init__(
        self, name: str, columns: list[Output] | None, *, relation: Relation | None = None, alias: bool = False
    ) -> None:
        self.name = name
        self.columns = columns
        """None if they are unknown."""
        self.relation = relation
        self.alias = alias
        self.scalar = 0
        """The type of a function that gives no rows but single values."""
        self.source: Any = None
        """Where its rows come from, if that is not a relation: the state of a sub-select, the calls of a function."""
        self.only = False
        """Whether ONLY leaves out the tables that inherit from the relation."""
        self.ordinality = False
        self.is_join = False
        self.columns_visible = self.name_visible = True
        self.lateral_only = False


class Window(Struct):
    """An analysed window. ``order`` has each expression with its SortBy; ``frame`` are the bits of frameOptions."""

    partition: list[Expr]
    order: list[tuple[Expr, Node]]
    frame: int
    start: Node | None = None
    end: Node | None = None


class WorkingTable:
    """The rows by which a recursive query refers to itself: those of the step before, set by who runs the query."""

    def __init__(self) -> None:
        self.current: list[tuple[Any, ...]] = []

    def rows(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.current)


class Query:
    """The analysed parts of one query, for those who run it. ``sources`` are the entries of FROM as written."""

    def __init__(self) -> None:
        self.sources: list[Any] = []
        self.targets: list[Any] = []
        self.rows: list[list[Expr]] | None = None
        """The rows of VALUES."""
        self.arms: tuple[Any, ...] = ()
        """The operation, whether it keeps duplicates, and the two sides of UNION, INTERSECT or EXCEPT."""
        self.where: Expr | None = None
        self.having: Expr | None = None
        self.groups: list[Any] | None = None
        self.grouping_sets = False
        self.sort: list[tuple[Any, Node]] = []
        self.distinct: list[Any] | None = None
        self.limits: dict[str, Expr] = {}
        self.with_ties = False
        self.working_table: WorkingTable | None = None
        """That of a recursive query."""
        self.windows: dict[str | int, Window] = {}
        """The windows by their names; those of OVER (...) by the identity of the clause."""
        self.locking: list[Node] = []
        """FOR UPDATE, and others of its kind."""


class Nested(ParseState):
    """The state of a sub-select: the items of its FROM, and the outer query."""

    nested = True

    def __init__(self, parent: ParseState) -> None:
        super().__init__(parent.session, parent.relation, parent.inputs, parent.transform_expr)
        self.parent = parent
        self.items: list[Item] = []
        self.entries: list[Item] = []
        """All entries, those too that cannot be referred to (p_rtable)."""
        self.variables: Item | None = None
        """The variables of a PL/pgSQL block: no column may have the name of one."""
        self.queries: dict[str, list[Output] | None] = dict(parent.queries) if isinstance(parent, Nested) else {}
        """The names of the WITH clause."""
        self.query_sources: dict[str, Any] = dict(parent.query_sources) if isinstance(parent, Nested) else {}
        """The states of the queries of the WITH clause."""
        self.query = Query()
        self.lateral = False
        self.resolves = True
        """Literals of no type in the select list become texts; in an arm of a UNION the other arms are asked first."""
        self.has_aggregates = self.has_grouping_sets = False
        self.windows: set[str] = set()
        self.window_definitions: list[Node] = []
        self.outer: list[Expr] = []
        """References to levels further out: columns, and aggregates that belong there."""
        self.analysed: list[Expr] = parent.analysed if isinstance(parent, Nested) else []
        """All expressions of the query, those of its sub-selects first."""

    @property
    def touches(self) -> bool:
        """Whether it refers to the relation that the whole expression is over."""
        return any(reference.node == "Var" and type(reference.value) is not tuple for reference in self.outer)


def levels(p: ParseState) -> Iterator[ParseState]:
    """A level and those around it, the outermost last."""
    while isinstance(p, Nested):
        yield p
        p = p.parent
    yield p


def level_of(expr: Expr, p: ParseState) -> ParseState:
    """The level that a column or an aggregate belongs to."""
    state: ParseState = expr.value[0] if type(expr.value) is tuple else list(levels(p))[-1]
    return state


def nested_reference(p: Nested, body: Node) -> Expr | MissingColumn:
    """A ColumnRef inside of a sub-select (transformColumnRef). Raises ServerError 42703, 42702, 42P01, Unknowable."""
    location: int = body.get("location", -1)
    fields = [field["String"]["sval"] if "String" in field else None for field in body["fields"]]
    name, qualifier = fields[-1], [part or "" for part in fields[:-1]]
    if not qualifier:
        assert name is not None
        column = column_named(p, name, location)
        if column is None:
            item = _item_named(p, [name], location)
            if item is None:
                raise _missing_column(p, None, name, location)
            return whole_item(p, *item, location)
        return column
    place = _item_named(p, qualifier[-2:], location)
    if place is None:
        if len(qualifier) > 2:
            return list(levels(p))[-1].transform({"ColumnRef": body})
        raise _missing_item(p, qualifier[-1], location)
    level, item_found = place
    if name is None:
        return whole_item(p, level, item_found, location)
    reference = _column(p, level, item_found, name, location)
    if reference is not None:
        return reference
    if item_found.columns is None and item_found.relation is None:
        raise Unknowable("the columns of a sub-select", location)
    if item_found.relation is not None and not item_found.relation.seen:
        raise Unknowable(f'the type of column "{name}"', location)
    missing = partial(_missing_column, p, qualifier[-1], name, location)
    return MissingColumn(name, whole_item(p, level, item_found, location), location, missing)


def column_named(p: Nested, name: str, location: int, local: bool = False) -> Expr | None:
    """An unqualified name (colNameToVar); ``local``: of this level only."""
    for level in levels(p):
        if not isinstance(level, Nested):
            if not level.relation.seen and level.relation.column(name) is None:
                # Says that the name was looked for, and that its type is not known.
                return outside(p, level, level.transform({"ColumnRef": _reference(name, location)}))
            top = relation_column(level, level.relation, name, location)
            return None if top is None else outside(p, level, top)
        column: Expr | None = None
        unknown = False
        for item in level.items:
            if not item.columns_visible or (item.lateral_only and not level.lateral):
                continue
            unknown = unknown or (item.columns is None and item.relation is None)
            candidate = _column(p, level, item, name, location)
            if candidate is not None and column is not None:
                raise p.error("42702", f'column reference "{name}" is ambiguous', location)
            column = candidate or column
        if unknown and column is None:
            raise Unknowable("the columns of a sub-select", location)
        if column is not None or local:
            if column is not None and level.variables is None:
                refuse_variable(level, name, location)
            return column
    return None


def refuse_variable(p: ParseState, name: str, location: int) -> None:
    """Raise ServerError 42702 if a block around the query has a variable of a column's name
    (plpgsql_post_column_ref)."""
    for level in levels(p):
        variables = level.variables if isinstance(level, Nested) else None
        if variables is not None and any(output.name == name for output in variables.columns or ()):
            detail = "It could refer to either a PL/pgSQL variable or a table column."
            raise p.error("42702", f'column reference "{name}" is ambiguous', location, detail=detail)


def _reference(name: str, location: int) -> Node:
    return {"fields": [{"String": {"sval": name}}], "location": location}


def outside(p: Nested, level: ParseState, reference: Expr) -> Expr:
    """Note a reference at every level that it passes."""
    for state in levels(p):
        if state is level:
            break
        assert isinstance(state, Nested)
        state.outer.append(reference)
    return reference


def _item_named(p: Nested, names: list[str], location: int) -> tuple[ParseState, Item] | None:
    """The entry that a (schema-qualified) name means, and its level (refnameNamespaceItem)."""
    for level in levels(p):
        items = level.items if isinstance(level, Nested) else [top_item(level)]
        fitting = [
            item
            for item in items
            if item.name_visible
            and item.name == names[-1]
            and not (item.lateral_only and isinstance(level, Nested) and not level.lateral)
            and (len(names) == 1 or _in_schema(p, item, names[-2]))
        ]
        if len(fitting) > 1:
            raise p.error("42P09", f'table reference "{names[-1]}" is ambiguous', location)
        if fitting:
            return level, fitting[0]
    return None


def item_named(p: Nested, names: list[str], location: int) -> tuple[ParseState, Item]:
    """The entry that a name before a star means. Raises ServerError 42P01, 42P09."""
    match = _item_named(p, names[-2:], location)
    if match is None:
        raise _missing_item(p, names[-1], location)
    return match


def _in_schema(p: Nested, item: Item, schema: str) -> bool:
    if item.relation is None or item.alias:
        return False
    return bool(p.session.catalog.namespaces[item.relation.namespace].name == schema)


def top_item(p: ParseState) -> Item:
    """The relation that the whole expression is over."""
    return Item(p.relation.name, None, relation=p.relation)


def _column(p: Nested, level: ParseState, item: Item, name: str, location: int) -> Expr | None:
    if not isinstance(level, Nested):
        top = relation_column(level, level.relation, name, location)
        return None if top is None else outside(p, level, top)
    fitting = [column for column in item.columns or () if column.name == name]
    if len(fitting) > 1:
        raise p.error("42702", f'column reference "{name}" is ambiguous', location)
    if fitting:
        column = fitting[0]
        if not column.type:
            raise Unknowable(f'the type of column "{name}"', location)
        origin = column.origin or (item, name)
        reference = Expr("Var", column.type, [], location, typmod=column.typmod, collation=column.collation)
    elif item.relation is not None:
        system = relation_column(p, item.relation, name, location)
        if system is None or (item.columns is not None and system.value > 0):
            return None
        reference, origin = system, (item, name)
    else:
        return None
    reference.value = (level, *origin)
    return outside(p, level, reference)


def whole_item(p: Nested, level: ParseState, item: Item, location: int) -> Expr:
    """An entry as one value (transformWholeRowRef)."""
    if not isinstance(level, Nested):
        reference = whole_row(p, level.relation, location)
    elif item.scalar:
        reference = Expr("Var", item.scalar, [], location, collation=p.cache.type(item.scalar).collation)
        reference.value = (level, item, item.name)
    elif item.relation is not None and not item.relation.columns:
        relation = builtins(p.major.number).relation("pg_catalog", item.relation.name)
        if item.relation.namespace != PG_CATALOG or relation is None or not relation.type:
            raise Unknowable(f'the columns of "{item.relation.name}"', location)
        reference = Expr("Var", relation.type, [], location, value=(level, item, None))
    elif item.relation is not None:
        reference = whole_row(p, item.relation, location)
        reference.value = (level, item, None)
    else:
        reference = Expr("Var", RECORD, [], location, value=(level, item, None))
    return outside(p, level, reference)


# Hints for names that are not found.


def _missing_item(p: Nested, name: str, location: int) -> ServerError:
    """errorMissingRTE."""
    relation = p.session.find_relation({"relname": name}) if name not in p.queries else None
    hidden: Item | None = None
    for level in levels(p):
        entries = level.entries if isinstance(level, Nested) else [top_item(level)]
        for item in entries:
            same_relation = relation is not None and item.relation is not None and item.relation.oid == relation.oid
            if hidden is None and (same_relation or item.name == name):
                hidden = item
    if hidden is None:
        message = 'missing FROM-clause entry for table "{name}"'
        return p.error("42P01", message, location, "no-table-of-name", name=name)
    message = 'invalid reference to FROM-clause entry for table "{name}"'
    if hidden.alias and hidden.name != name:
        match = _item_named(p, [hidden.name], location)
        if match is not None and match[1] is hidden:
            hint = f'Perhaps you meant to reference the table alias "{hidden.name}".'
            return p.error("42P01", message, location, "no-table-of-name", hint=hint, name=name)
    why = f'There is an entry for table "{hidden.name}", but it cannot be referenced from this part of the query.'
    if not p.major.reach_in_detail:
        return p.error("42P01", message, location, "no-table-of-name", hint=why, name=name)
    advice = "To reference that table, you must mark this subquery with LATERAL."
    lateral = _lateral_would_do(p, hidden)
    return p.error(
        "42P01", message, location, "no-table-of-name", detail=why, hint=advice if lateral else None, name=name
    )


def _lateral_would_do(p: Nested, item: Item) -> bool:
    """rte_visible_if_lateral."""
    if p.lateral:
        return False
    return any(isinstance(level, Nested) and item in level.items and item.lateral_only for level in levels(p))


def _missing_column(p: Nested, qualifier: str | None, name: str, location: int) -> ServerError:
    """errorMissingColumn: the hint is about the nearest columns of all tables of all levels."""
    offered: list[tuple[int, str, str]] = []
    exact: list[Item] = []
    for level in levels(p):
        entries = level.entries if isinstance(level, Nested) else [top_item(level)]
        for item in entries:
            if item.is_join:
                continue
            names = _names_of(item)
            if names is None:
                raise Unknowable("the columns of a sub-select", location)
            penalty = 0 if qualifier is None else distance(qualifier, item.name, MAX_FUZZY_DISTANCE + 1)
            offered += [(penalty, item.name, column) for column in names]
            if name in names and penalty == 0:
                exact.append(item)
    message = NO_COLUMN if qualifier is None else NO_QUALIFIED_COLUMN
    column = name if qualifier is None else f"{qualifier}.{name}"
    if not exact:
        return p.error("42703", message, location, "no-column", hint=suggestion(offered, name), column=column)
    why = (
        f'There is a column named "{name}" in table "{exact[0].name}", '
        "but it cannot be referenced from this part of the query."
    )
    if not p.major.reach_in_detail:
        return p.error("42703", message, location, "column-out-of-reach", hint=why, column=column)
    if len(exact) > 1:
        why = (
            f'There are columns named "{name}", but they are in tables that cannot be referenced '
            "from this part of the query."
        )
        advice = "Try using a table-qualified name." if qualifier is None else None
    elif _lateral_would_do(p, exact[0]):
        advice = "To reference that column, you must mark this subquery with LATERAL."
    elif qualifier is None and exact[0].name_visible and not exact[0].columns_visible:
        advice = "To reference that column, you must use a table-qualified name."
    else:
        advice = None
    return p.error("42703", message, location, "column-out-of-reach", detail=why, hint=advice, column=column)


def _names_of(item: Item) -> list[str] | None:
    if item.columns is not None:
        return [column.name for column in item.columns]
    if item.relation is not None and item.relation.seen:
        return [column.name for column in item.relation.live()]
    return None
