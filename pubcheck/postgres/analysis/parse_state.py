"""The state of the analysis of one expression (parser/parse_node.c), the locations of its nodes (exprLocation in
nodes/nodeFuncs.c), and the columns that it reads, by the rules of name resolution (parser/parse_relation.c,
parse_expr.c).

A node has one location: a comparison that of its operator, a function call that of its name. An error about a whole
expression points at the leftmost place among it and its operands. -1 means that there is no location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, TEMPORARY
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import NO_COLUMN, NO_QUALIFIED_COLUMN, ServerError, Unknowable
from pubcheck.postgres.oids import CID, OID, TID, XID
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, require_column

if TYPE_CHECKING:
    from pubcheck.postgres.input import InputContext
    from pubcheck.postgres.session import Session
    from pubcheck.postgres.session.syscache import SysCache

NOTHING = Relation(0, "", PG_CATALOG, "r", 0, seen=True)
"""The relation name of an expression that has no relation."""
_WITH_SETS = frozenset(("SELECT", "ORDER BY", "GROUP BY", "DISTINCT ON", "functions in FROM"))


class ParseState:
    """The relation in scope, and the session whose search path and settings apply.

    ``inputs`` reads the literals; it records which of them were frozen. ``transform_expr`` analyses the
    parts of an expression: each construct is a module of its own, and ``analyze`` knows them all.
    """

    clause = "WHERE"
    """The place of the expression in its query (p_expr_kind), in the words of errors."""
    nested = False
    """Whether the expression is in a sub-select."""
    merge_action: Callable[[object], str] | None = None
    """What merge_action() returns for a row of RETURNING, in a MERGE that runs."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        inputs: InputContext,
        transform_expr: Callable[[ParseState, Node], Expr],
    ) -> None:
        self.session = session
        self.cache: SysCache = inputs.cache
        self.relation = relation
        self.inputs = inputs
        self.transform_expr = transform_expr
        self.major = session.catalog.major
        self.frozen: list[tuple[int, frozenset[str]]] = []
        """The places of the literals whose value was fixed when they were read, and its causes."""

    def transform(self, node: Node) -> Expr:
        """An expression with its types, functions and operators found (``analyze.transform``)."""
        return self.transform_expr(self, node)

    def operator_signature(self, names: list[str], left: int, right: int) -> str:
        """op_signature_string."""
        start = f"{self.type_name(left)} " if left else ""
        return f"{start}{'.'.join(names)} {self.type_name(right)}"

    def error(
        self,
        sqlstate: str,
        message: str,
        location: int | None = None,
        key: str = "expression",
        *,
        hint: str | None = None,
        detail: str | None = None,
        **arguments: str,
    ) -> ServerError:
        """Return the error at a byte offset of the statement; a negative one is the server's "no position"."""
        place = location if location is not None and location >= 0 else None
        return ServerError(
            sqlstate, message, key=key, detail=detail, hint=hint, location=place, culprit=None, **arguments
        )

    def missing(
        self,
        message: str,
        key: str,
        signature: str,
        location: int,
        types: Sequence[int],
        *,
        exists: bool,
        reason: tuple[str | None, str | None],
    ) -> ServerError:
        """Return the refusal (42883) of an operator or function that does not exist for these types.

        ``reason`` is its DETAIL and HINT. It is assumed if an unknown statement may have created one. For built-in
        types and a name that ``exists`` on the server this is not expected.
        """
        own = exists and all(oid < FIRST_NORMAL_OID for oid in types)
        if not self.cache.complete_names and (not own or self.session.blind or self.session.extensions):
            self.session.assume("whether a function or operator for these types is created elsewhere")
        return self.error("42883", message, location, key, detail=reason[0], hint=reason[1], signature=signature)

    def take_set(self, location: int) -> None:
        """Refuse a set-returning function here (check_srf_call_placement). Raises ServerError 0A000."""
        if self.clause not in _WITH_SETS:
            message = "set-returning functions are not allowed in {clause}"
            raise self.error("0A000", message, location, "set-out-of-place", clause=self.clause)

    def type_name(self, oid: int) -> str:
        """format_type_be."""
        return self.cache.format_type(oid)


_OF_ARGUMENT = frozenset(
    ("SubscriptingRef", "FieldSelect", "FieldStore", "CollateExpr", "RowCompareExpr", "JsonValueExpr", "JsonBehavior")
)
"""Nodes whose place is that of their first operand."""
_LEFTMOST = frozenset(
    (
        "FuncExpr", "NamedArgExpr", "OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "BoolExpr", "SubLink",
        "RelabelType", "CoerceViaIO", "ArrayCoerceExpr", "ConvertRowtypeExpr", "JsonExpr", "NullTest", "BooleanTest",
        "CoerceToDomain", "XmlExpr",
    )
)  # fmt: skip
"""Nodes that look at their own place and at that of their first operand that has one."""


def expr_location(expr: Expr) -> int:
    """Return the start of an analysed expression, a byte offset into the statement; -1 where the server does not know
    it."""
    best = -1
    while True:
        kind = expr.node
        if kind in _OF_ARGUMENT:
            args = expr.args
        elif kind in _LEFTMOST:
            best = _leftmost(best, expr.location)
            # A named argument of an XML construct has the location of its name; only unnamed ones are visited.
            args = expr.args[expr.value[1] :] if kind == "XmlExpr" else expr.args
            if kind in ("ArrayCoerceExpr", "SubLink", "JsonExpr"):
                args = args[:1]
        else:
            return _leftmost(best, expr.location)
        if not args:
            return best
        # Chains of operators lean left and may be long: the first operand is followed, not called.
        first = args[0]
        if len(args) > 1 and _placeless(first):
            return _leftmost(best, next((place for place in map(expr_location, args) if place >= 0), -1))
        expr = first


def _placeless(expr: Expr) -> bool:
    """Return whether an operand may be without a place, so that the next one counts."""
    return expr.location < 0 and expr.node != "Var"


def _leftmost(first: int, second: int) -> int:
    if first < 0:
        return second
    return first if second < 0 else min(first, second)


def node_location(node: Node | None) -> int:
    """Return the start of a parse node; -1 where the server does not know it."""
    if not node:
        return -1
    ((kind, body),) = node.items()
    if kind == "CollateClause":
        return node_location(body.get("arg"))
    place: int = body.get("location", 0) if kind in _PLACED else -1
    if kind == "A_Expr":
        return _leftmost(place, node_location(body.get("lexpr")))
    if kind == "FuncCall":
        return _leftmost(place, _first(body.get("args", ())))
    if kind == "TypeCast":
        place = _leftmost(place, body["typeName"].get("location", 0))
        return _leftmost(place, node_location(body.get("arg")))
    if kind in ("BoolExpr", "XmlExpr"):
        return _leftmost(place, _first(body.get("args", ())))
    if kind in ("NullTest", "BooleanTest"):
        return _leftmost(place, node_location(body.get("arg")))
    if kind == "SubLink":
        return _leftmost(place, node_location(body.get("testexpr")))
    if kind == "NamedArgExpr":
        return _leftmost(place, node_location(body.get("arg")))
    return place


_PLACED = frozenset(
    (
        "A_ArrayExpr", "A_Const", "A_Expr", "BoolExpr", "BooleanTest", "CaseExpr", "CoalesceExpr", "ColumnRef",
        "FuncCall", "GroupingFunc", "JsonArrayConstructor", "JsonArrayQueryConstructor", "JsonIsPredicate",
        "JsonObjectConstructor", "MergeSupportFunc", "MinMaxExpr", "NamedArgExpr", "NullTest", "ParamRef", "RowExpr",
        "SQLValueFunction", "SetToDefault", "SubLink", "TypeCast", "XmlExpr", "XmlSerialize",
    )
)  # fmt: skip


def _first(nodes: Iterable[Node]) -> int:
    return next((place for place in map(node_location, nodes) if place >= 0), -1)


MAX_FUZZY_DISTANCE = 3


def named_columns(session: Session, relation: Relation, tree: Node) -> Iterator[tuple[Column, int]]:
    """Return the columns that an expression names outside of sub-selects, with their locations, in textual order.

    Raises ServerError for a name that the table certainly does not have; an unknown table has every column.
    """
    for _, body in find(tree, "ColumnRef"):
        column = _resolve(session, session.catalog.relations[relation.oid], body)
        if column is not None:
            yield column, body.get("location", 0)


def _resolve(session: Session, relation: Relation, body: Node) -> Column | None:
    """The column that a ColumnRef names; None for a system column or the whole row."""
    qualifier, name, location = _parts(session, relation, body)
    if name is None:
        return None
    column = relation.column(name)
    if column is not None:
        return column
    if name in SYSTEM_COLUMNS or (not qualifier and name == relation.name):
        return None
    if not relation.seen:
        return require_column(session, relation.oid, name)
    # What could not be followed (a DO block) may have added it.
    session.rests_on_flag("blind")
    raise missing_column(relation, qualifier[-1] if qualifier else None, name, location)


def _parts(session: Session, relation: Relation, body: Node) -> tuple[list[str], str | None, int]:
    """The qualifier, the name (None for a star) and the place of a ColumnRef whose qualifier is the relation's.

    Raises ServerError 0A000, 42601 and 42P01.
    """
    location: int = body.get("location", -1)
    fields: list[str | None] = [
        field["String"].get("sval", "") if "String" in field else None for field in body["fields"]
    ]
    if len(fields) == 1:
        return [], fields[0], location
    *qualifier, name = fields
    if len(qualifier) > 3 or (len(qualifier) == 3 and qualifier[0] != session.catalog.database):
        raise _improper(session, fields, location)
    parts = [part or "" for part in qualifier]
    if not _names_relation(session, relation, parts):
        raise missing_relation(session, relation, parts[-1], location)
    return parts, name, location


def _names_relation(session: Session, relation: Relation, qualifier: list[str]) -> bool:
    schema = "pg_temp" if relation.namespace == TEMPORARY else session.catalog.namespaces[relation.namespace].name
    parts = [session.catalog.database, schema, relation.name]
    return parts[-len(qualifier) :] == qualifier


def _improper(session: Session, fields: list[str | None], location: int) -> ServerError:
    shown = ".".join("*" if field is None else field for field in fields)
    if len(fields) > 4:
        message = "improper qualified name (too many dotted names): {name}"
        return ServerError("42601", message, key="improper-name", location=location, name=shown)
    session.assume_database()
    message = "cross-database references are not implemented: {name}"
    return ServerError("0A000", message, key="improper-name", location=location, name=shown)


def missing_relation(session: Session, relation: Relation, name: str, location: int) -> ServerError:
    """errorMissingRTE: a qualifier that names nothing, or the relation in another schema than its own."""
    key = "no-table-of-child" if relation.parents else "no-table-of-name"
    if name != relation.name:
        message = 'missing FROM-clause entry for table "{name}"'
        return ServerError("42P01", message, key=key, location=location, name=name)
    message = 'invalid reference to FROM-clause entry for table "{name}"'
    why = f'There is an entry for table "{name}", but it cannot be referenced from this part of the query.'
    if session.catalog.major.reach_in_detail:
        return ServerError("42P01", message, key=key, detail=why, location=location, name=name)
    return ServerError("42P01", message, key=key, hint=why, location=location, name=name)


def missing_column(relation: Relation, qualifier: str | None, name: str, location: int) -> ServerError:
    """errorMissingColumn."""
    return ServerError(
        "42703",
        NO_COLUMN if qualifier is None else NO_QUALIFIED_COLUMN,
        key="no-column",
        hint=suggestion([(0, relation.name, column.name) for column in relation.live()], name),
        location=location,
        column=name if qualifier is None else f"{qualifier}.{name}",
    )


# References as analysed expressions.

_SYSTEM_TYPES = {"ctid": TID, "xmin": XID, "cmin": CID, "xmax": XID, "cmax": CID, "tableoid": OID}


class MissingColumn(Struct):
    """A qualified name that is not a column's: it may be a function of the whole ``row``. Otherwise ``error`` makes the
    refusal."""

    name: str
    row: Expr
    location: int
    error: Callable[[], ServerError]


def column_reference(p: ParseState, body: Node) -> Expr | MissingColumn:
    """A ColumnRef over the one relation of an expression, as a Var (transformColumnRef).

    Raises ServerError 42703, 42P01, 0A000 and 42601, and Unknowable for a column whose type is unknown.
    """
    relation = p.relation
    qualifier, name, location = _parts(p.session, relation, body)
    if name is None:
        return whole_row(p, relation, location)
    column = relation_column(p, relation, name, location)
    if column is not None:
        return column
    if not qualifier and name == relation.name:
        return whole_row(p, relation, location)
    if not relation.seen:
        require_column(p.session, relation.oid, name)
        raise Unknowable(f'the type of column "{name}"', location)

    def missing() -> ServerError:
        p.session.rests_on_flag("blind")
        return missing_column(relation, qualifier[-1] if qualifier else None, name, location)

    if qualifier:
        return MissingColumn(name, whole_row(p, relation, location), location, missing)
    raise missing()


def relation_column(p: ParseState, relation: Relation, name: str, location: int) -> Expr | None:
    """A column of a relation, or a system column, as a Var (scanNSItemForColumn)."""
    column = relation.column(name)
    if column is not None:
        return column_var(p, column, location)
    if name in _SYSTEM_TYPES and relation.kind not in "vc":
        return Expr("Var", _SYSTEM_TYPES[name], [], location, value=SYSTEM_COLUMNS[name])
    return None


def column_var(p: ParseState, column: Column, location: int) -> Expr:
    """Return a column as a Var. Raises Unknowable if its type is unknown."""
    if not column.type:
        raise Unknowable(f'the type of column "{column.name}"', location)
    collation = column.collation or p.cache.type(column.type).collation
    return Expr("Var", column.type, [], location, typmod=column.typmod, collation=collation, value=column.number)


def whole_row(p: ParseState, relation: Relation, location: int) -> Expr:
    """All columns of a relation as one value of its row type (transformWholeRowRef).

    Raises ServerError 42809 for a sequence, which has none.
    """
    if relation.kind == "S":
        raise p.error("42809", f'relation "{relation.name}" does not have a composite type')
    oid = 0
    if relation.oid < FIRST_NORMAL_OID and relation.namespace == PG_CATALOG:
        oid = builtins(p.major.number).type("pg_catalog", relation.name)
    oid = oid or p.session.catalog.row_type(relation).oid
    return Expr("Var", oid, [], location, value=0)


def suggestion(offered: list[tuple[int, str, str]], name: str) -> str | None:
    """The HINT of errorMissingColumn: the column, or the two columns, that the name is nearest to.

    ``offered`` are tuples: the distance of the table's name from the qualifier, its name, and the column's.
    """
    best = MAX_FUZZY_DISTANCE + 1
    first = second = ""
    for penalty, table, column in offered:
        if penalty > best:
            continue
        away = distance(column, name, best + 1 - penalty)
        if away > len(name.encode()) // 2:
            continue
        away += penalty
        shown = f"{table}.{column}"
        if away < best:
            best, first, second = away, shown, ""
        elif away == best:
            if second:
                first = second = ""
            elif first:
                second = shown
    if not first:
        return None
    second_hint = f' or the column "{second}"' if second else ""
    return f'Perhaps you meant to reference the column "{first}"{second_hint}.'


def distance(source: str, target: str, limit: int) -> int:
    """Levenshtein distance with unit costs; anything above ``limit`` where it is at least that.

    Tables have up to 1,600 columns, most of them far from the name: those cost little.
    """
    beyond = limit + 1
    if abs(len(source) - len(target)) > limit:
        return beyond
    source_letters, target_letters = set(source), set(target)
    if len(source_letters - target_letters) > limit or len(target_letters - source_letters) > limit:
        return beyond
    start, end = 0, min(len(source), len(target))
    while start < end and source[start] == target[start]:
        start += 1
    source, target = source[start:], target[start:]
    while source and target and source[-1] == target[-1]:
        source, target = source[:-1], target[:-1]
    # Cells further than ``limit`` from the diagonal are beyond it; cells never written hold a value that is too large
    # as well.
    width = len(target)
    row = list(range(width + 1))
    for row_number, char in enumerate(source, 1):
        low, high = max(1, row_number - limit), min(width, row_number + limit)
        diagonal = row[low - 1]
        nearest = left = row[low - 1] = row_number if low == 1 else beyond
        for across in range(low, high + 1):
            above = row[across]
            left = min(above + 1, left + 1, diagonal + (char != target[across - 1]))
            diagonal, row[across] = above, left
            nearest = min(nearest, left)
        if nearest > limit:
            return beyond
    return row[-1]
