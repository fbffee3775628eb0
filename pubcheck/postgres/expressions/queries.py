"""The analysis of a plain SELECT inside of an expression, for its result types and its errors.

Follows parser/analyze.c (transformSelectStmt), parse_clause.c (FROM) and parse_relation.c (columns over several tables
and levels). Aggregates, set-returning functions and whatever is not followed have a result that cannot be told.
"""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.expressions.analyze import transform
from pubcheck.postgres.expressions.coerce import coerce_to_boolean, select_common_type
from pubcheck.postgres.expressions.columns import (
    column_reference,
    missing_column,
    missing_relation,
    relation_column,
    whole_row,
)
from pubcheck.postgres.expressions.nodes import UNKNOWN, Expr
from pubcheck.postgres.expressions.state import ParseState
from pubcheck.postgres.oids import RECORD, TEXT
from pubcheck.postgres.parse import Node


class Output(Struct, frozen=True):
    """A column that a query gives; type 0 where it cannot be told."""

    name: str
    type: int = 0
    typmod: int = -1
    collation: int = 0


class Item(Struct, frozen=True):
    """An entry of FROM; ``columns`` is None where they cannot be told. ``relation``: it is one, under its own names."""

    name: str
    columns: list[Output] | None
    relation: Relation | None = None
    qualified: bool = False
    """It can be named with its schema, for it has no alias."""


class Nested(ParseState):
    """The state of a sub-select: what its FROM brings, and the query around it."""

    def __init__(self, parent: ParseState) -> None:
        super().__init__(parent.session, parent.relation, parent.inputs)
        self.parent = parent
        self.items: list[Item] = []
        self.tables: dict[str, list[Output] | None] = dict(parent.tables) if isinstance(parent, Nested) else {}
        """What WITH names."""
        self.loose = False
        """Two columns of one name may be one, merged by USING."""
        self.touches = False
        """It refers to the relation that the whole expression is over."""


def analyze_query(p: Nested, query: Node) -> list[Output] | None:
    """The columns of a SELECT, None where their number cannot be told. Raises ServerError and Unknowable."""
    for kind, body in query.items():
        return _select(p, body) if kind == "SelectStmt" else None
    return None


def _select(p: Nested, body: Node) -> list[Output] | None:
    if "withClause" in body:
        _with(p, body["withClause"])
    if body.get("op", "SETOP_NONE") != "SETOP_NONE":
        return _set_operation(p, body)
    if "valuesLists" in body:
        return _values(p, body["valuesLists"])
    for entry in body.get("fromClause", ()):
        _from(p, entry)
    outputs: list[Output] | None = []
    p.aggregates = True
    for target in body.get("targetList", ()):
        found = _target(p, target["ResTarget"])
        outputs = None if outputs is None or found is None else outputs + found
    p.aggregates = False
    if "whereClause" in body:
        coerce_to_boolean(p, transform(p, body["whereClause"]), "WHERE")
    if "havingClause" in body:
        p.aggregates = True
        coerce_to_boolean(p, transform(p, body["havingClause"]), "HAVING")
        p.aggregates = False
    return outputs


def _expression(p: Nested, node: Node) -> Expr | None:
    """None for what only a WHERE must not hold: aggregates, window and set-returning functions."""
    try:
        return transform(p, node)
    except ServerError as error:
        if error.rule == "rf-clause-kind" and error.sqlstate in ("42803", "42P20", "0A000"):
            return None
        raise


def _with(p: Nested, clause: Node) -> None:
    for item in clause["ctes"]:
        part = item["CommonTableExpr"]
        inner = Nested(p)
        if clause.get("recursive"):
            p.tables[part["ctename"]] = None
            continue
        outputs = analyze_query(inner, part["ctequery"])
        p.tables[part["ctename"]] = _renamed(outputs, _strings(part.get("aliascolnames", ())))
        p.touches = p.touches or inner.touches


def _strings(parts: list[Node] | tuple[()]) -> list[str]:
    return [part["String"]["sval"] for part in parts]


def _renamed(outputs: list[Output] | None, names: list[str]) -> list[Output] | None:
    if outputs is None or not names:
        return outputs
    return [
        Output(names[at], one.type, one.typmod, one.collation) if at < len(names) else one
        for at, one in enumerate(outputs)
    ]


def _set_operation(p: Nested, body: Node) -> list[Output] | None:
    """UNION and its like: names of the left, types where both agree."""
    arms = []
    for side in ("larg", "rarg"):
        inner = Nested(p)
        arms.append(_select(inner, body[side]))
        p.touches = p.touches or inner.touches
    left, right = arms
    if left is None or right is None:
        return None
    if len(left) != len(right):
        name = body["op"].removeprefix("SETOP_")
        raise p.error("42601", f"each {name} query must have the same number of columns", None)
    return [
        Output(one.name, one.type, one.typmod if one.typmod == other.typmod else -1, one.collation)
        if one.type == other.type
        else Output(one.name)
        for one, other in zip(left, right, strict=True)
    ]


def _values(p: Nested, lists: list[Node]) -> list[Output] | None:
    rows = [[_expression(p, item) for item in row["List"].get("items", ())] for row in lists]
    if len({len(row) for row in rows}) > 1:
        return None
    outputs = []
    for at, column in enumerate(zip(*rows, strict=True), 1):
        known = [value for value in column if value is not None]
        oid = select_common_type(p, known, "VALUES") if len(known) == len(column) else 0
        outputs.append(Output(f"column{at}", oid, collation=p.cache.type(oid).collation if oid else 0))
    return outputs


# FROM.


def _from(p: Nested, entry: Node) -> None:
    ((kind, body),) = entry.items()
    alias = body.get("alias", {})
    name, names = alias.get("aliasname", ""), _strings(alias.get("colnames", ()))
    if kind == "RangeVar":
        p.items.append(_table(p, body, name, names))
    elif kind == "RangeSubselect":
        inner = Nested(p.parent if not body.get("lateral") else p)
        inner.tables = p.tables
        outputs = analyze_query(inner, body["subquery"])
        p.touches = p.touches or inner.touches
        p.items.append(Item(name, _renamed(outputs, names)))
    elif kind == "JoinExpr":
        p.loose = p.loose or "usingClause" in body or bool(body.get("isNatural")) or bool(name)
        _from(p, body["larg"])
        _from(p, body["rarg"])
        if "quals" in body:
            coerce_to_boolean(p, transform(p, body["quals"]), "JOIN/ON")
        if name:
            p.items.append(Item(name, None))
    else:
        p.items.append(Item(name or _function_name(kind, body), None))


def _function_name(kind: str, body: Node) -> str:
    """A function in FROM is called like itself."""
    if kind == "RangeFunction":
        call = body["functions"][0]["List"]["items"][0].get("FuncCall")
        if call is not None:
            found: str = call["funcname"][-1]["String"]["sval"]
            return found
    return ""


def _table(p: Nested, body: Node, alias: str, names: list[str]) -> Item:
    if "schemaname" not in body and body["relname"] in p.tables:
        return Item(alias or body["relname"], _renamed(p.tables[body["relname"]], names))
    relation = p.session.find_relation(body)
    if relation is None:
        schema = f"{body['schemaname']}." if "schemaname" in body else ""
        message = f'relation "{schema}{body["relname"]}" does not exist'
        location: int = body.get("location", -1)
        if not p.cache.complete_names:
            raise Unknowable(message, location)
        raise p.error("42P01", message, location)
    name = alias or relation.name
    if not relation.seen or not relation.columns:
        return Item(name, None, qualified=not alias)
    if names:
        outputs = [Output(column.name, column.type, column.typmod, column.collation) for column in relation.live()]
        return Item(name, _renamed(outputs, names))
    return Item(name, None, relation, qualified=not alias)


# The select list.


def _target(p: Nested, target: Node) -> list[Output] | None:
    value = target["val"]
    reference = value.get("ColumnRef")
    if reference is not None and "A_Star" in reference["fields"][-1]:
        return _star(p, reference)
    if "A_Indirection" in value and "A_Star" in value["A_Indirection"]["indirection"][-1]:
        return None
    name = target.get("name") or (_strings(reference["fields"])[-1] if reference is not None else "")
    made = _expression(p, value)
    if made is None:
        return [Output(name)]
    # resolveTargetListUnknowns
    oid = TEXT if made.type == UNKNOWN else made.type
    return [Output(name, oid, made.typmod, made.collation or p.cache.type(oid).collation)]


def _star(p: Nested, reference: Node) -> list[Output] | None:
    fields = reference["fields"]
    if len(fields) > 1:
        item = _named_item(p, _strings(fields[:-1]))
        if item is None:
            column_reference(p, reference)
            return None
        return _all(item)
    if p.loose:
        return None
    found: list[Output] = []
    for item in p.items:
        columns = _all(item)
        if columns is None:
            return None
        found += columns
    return found


def _all(item: Item) -> list[Output] | None:
    if item.relation is None:
        return item.columns
    return [Output(one.name, one.type, one.typmod, one.collation) for one in item.relation.live()]


# Columns.


def nested_reference(p: Nested, body: Node) -> Expr:
    """A ColumnRef inside of a sub-select: the innermost level that has it (colNameToVar, refnameNamespaceItem)."""
    location: int = body.get("location", -1)
    fields = [field["String"]["sval"] if "String" in field else None for field in body["fields"]]
    name, qualifier = fields[-1], [part or "" for part in fields[:-1]]
    level: ParseState = p
    passed: list[Nested] = []
    unknown = False
    while isinstance(level, Nested):
        passed.append(level)
        if qualifier:
            item = _named_item(level, qualifier)
            if item is not None:
                return _of_item(p, item, name, qualifier[-1], location)
        else:
            found = [made for made in (_column(p, item, name or "", location) for item in level.items) if made]
            if len(found) > 1 and not level.loose:
                raise p.error("42702", f'column reference "{name}" is ambiguous', location)
            if found:
                return found[0]
            unknown = unknown or level.loose or any(_hidden(item) for item in level.items)
        level = level.parent
    try:
        made = column_reference(level, body)
    except ServerError as error:
        if unknown and error.sqlstate == "42703":
            raise Unknowable("the columns of a sub-select", location) from None
        if not qualifier and name is not None:
            # Not a column: then perhaps a table, of which the whole row is meant.
            item = next((item for at in passed for item in at.items if item.name == name), None)
            if item is not None:
                return _of_item(p, item, None, name, location)
            raise _missing(passed, name, error) from None
        raise
    for at in passed:
        at.touches = True
    return made


def _hidden(item: Item) -> bool:
    return item.columns is None and item.relation is None


def _missing(passed: list[Nested], name: str, error: ServerError) -> ServerError:
    """The HINT is about the nearest column of any table; only one table's is worked out here."""
    relations = [item.relation for at in passed for item in at.items if item.relation is not None]
    if relations:
        error.hint = missing_column(relations[0], None, name, -1).hint if len(relations) == 1 else None
    return error


def _named_item(level: Nested, qualifier: list[str]) -> Item | None:
    for item in level.items:
        if item.name != qualifier[-1]:
            continue
        if len(qualifier) == 1:
            return item
        if item.qualified and item.relation is not None:
            namespace = level.session.catalog.namespaces[item.relation.namespace].name
            if qualifier[-2] == namespace:
                return item
    return None


def _of_item(p: Nested, item: Item, name: str | None, qualifier: str, location: int) -> Expr:
    if name is None:
        if item.relation is not None:
            row = whole_row(p, item.relation, location)
            row.value = None
            return row
        return Expr("Var", RECORD, [], location)
    found = _column(p, item, name, location)
    if found is not None:
        return found
    if _hidden(item):
        raise Unknowable("the columns of a sub-select", location)
    if item.relation is None:
        raise p.error("42703", f"column {qualifier}.{name} does not exist", location)
    if not item.relation.seen:
        raise missing_relation(p.session, item.relation, qualifier, location)
    raise missing_column(item.relation, qualifier, name, location)


def _column(p: Nested, item: Item, name: str, location: int) -> Expr | None:
    if item.relation is not None:
        return relation_column(p, item.relation, name, location)
    for column in item.columns or ():
        if column.name == name:
            if not column.type:
                raise Unknowable(f'the type of column "{name}"', location)
            return Expr(
                "Var", column.type, [], location, typmod=column.typmod, collation=column.collation, value=1
            )
    return None
