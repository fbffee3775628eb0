"""The columns that a row filter reads, by the rules of name resolution (parser/parse_relation.c, parse_expr.c).

Whether the expression has types that fit and may stand in a filter at all is not judged here.
"""

from __future__ import annotations

import re
from typing import Any

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column, Filter, Place, Relation
from pubcheck.postgres.ddl.columns import SYSTEM_COLUMNS, require_column
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import find

_MAX_FUZZY_DISTANCE = 3


def read_filter(session: Session, relation: Relation, tree: Node) -> Filter:
    """The filter of a publication member.

    Raises ServerError 42703 or 42P01 for a name that the table does not give; a table that is not visible has every
    column.
    """
    columns: dict[int, None] = {}
    places: list[tuple[int, Place]] = []
    for _, body in find(tree, "ColumnRef"):
        column = _resolve(session, relation, body)
        if column is None:
            continue
        relation = session.catalog.relations[relation.oid]
        place = session.place(body.get("location", 0))
        for number in _expanded(relation, column):
            columns[number] = None
            places.append((number, place))
    return Filter(tree, tuple(columns), tuple(places), judged=_plain(relation, tree))


def _expanded(relation: Relation, column: Column) -> list[int]:
    """A virtual generated column stands for the columns of its expression (expand_generated_columns_in_expr)."""
    if column.generated != "v":
        return [column.number]
    bases = (relation.column(name) for name in column.expression)
    return [base.number for base in bases if base is not None]


def _resolve(session: Session, relation: Relation, body: Node) -> Column | None:
    """transformColumnRef with one relation in scope; None for a system column or the whole row."""
    fields = [field.get("String", {}).get("sval") for field in body["fields"]]
    location = body.get("location", 0)
    *qualifier, name = fields
    if len(qualifier) == 3 and qualifier[0] != session.catalog.database:
        session.assumed = session.assumed or not session.catalog.database_known
        raise ServerError(
            "0A000",
            f"cross-database references are not implemented: {'.'.join(field or '*' for field in fields)}",
            rule="rf-name-resolution",
            location=location,
        )
    if qualifier and not _names_relation(session, relation, qualifier):
        raise ServerError(
            "42P01",
            f'missing FROM-clause entry for table "{qualifier[-1]}"',
            rule="inheritance-qualified-filter" if relation.parents else "rf-name-resolution",
            location=location,
        )
    if name is None:
        return None
    column = relation.column(name)
    if column is not None:
        return column
    if name in SYSTEM_COLUMNS or (not qualifier and name == relation.name):
        return None
    if not relation.seen:
        return require_column(session, relation.oid, name)
    shown = f"{qualifier[-1]}.{name}" if qualifier else f'"{name}"'
    raise ServerError(
        "42703",
        f"column {shown} does not exist",
        rule="rf-name-resolution",
        hint=_suggestion(relation, name),
        location=location,
    )


def _names_relation(session: Session, relation: Relation, qualifier: list[str]) -> bool:
    parts = [session.catalog.database, session.catalog.namespaces[relation.namespace].name, relation.name]
    return len(qualifier) <= 3 and parts[-len(qualifier) :] == qualifier


def _suggestion(relation: Relation, name: str) -> str | None:
    """The HINT of errorMissingColumn: the column, or the two columns, that the name is nearest to."""
    best, first, second = _MAX_FUZZY_DISTANCE + 1, "", ""
    for column in relation.live():
        distance = _distance(column.name, name, best + 1)
        if distance > len(name.encode()) // 2:
            continue
        if distance < best:
            best, first, second = distance, column.name, ""
        elif distance == best:
            if second:
                best, first, second = distance - 1, "", ""
            elif first:
                second = column.name
            elif best <= _MAX_FUZZY_DISTANCE:
                first = column.name
    if not first:
        return None
    if not second:
        return f'Perhaps you meant to reference the column "{relation.name}.{first}".'
    return (
        f'Perhaps you meant to reference the column "{relation.name}.{first}" '
        f'or the column "{relation.name}.{second}".'
    )


def _distance(one: str, other: str, limit: int) -> int:
    """Levenshtein distance with unit costs; anything above ``limit`` where it is at least that."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    row = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        previous, row[0] = row[0], at
        for across, there in enumerate(other, 1):
            previous, row[across] = (
                row[across],
                min(row[across] + 1, row[across - 1] + 1, previous + (char != there)),
            )
    return row[-1]


_COMPARISONS = {"=", "<>", "<", ">", "<=", ">="}
_NUMBERS = {20, 21, 23, 700, 701, 1700}
"""int8, int2, int4, float4, float8, numeric."""
_TEXTS = {19, 25, 1042, 1043}
"""name, text, bpchar, varchar."""
_BOOLEAN = 16
_LITERALS = {
    20: re.compile(r"\d{1,18}"),
    21: re.compile(r"\d{1,4}"),
    23: re.compile(r"\d{1,9}"),
    1700: re.compile(r"\d{1,9}(\.\d{1,9})?"),
    1082: re.compile(r"[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])"),
    1114: re.compile(r"[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])( [01]\d:[0-5]\d(:[0-5]\d)?)?"),
    1184: re.compile(r"[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])( [01]\d:[0-5]\d(:[0-5]\d)?([+-]\d\d)?)?"),
}
"""Text that certainly is a literal of a type: int8, int2, int4, numeric, date, timestamp, timestamptz."""


def _plain(relation: Relation, tree: Node) -> bool:
    """Whether the server certainly accepts a filter: comparisons of built-in columns with fitting constants, NULL
    tests,
    boolean columns and constants, under AND, OR and NOT."""
    conditions: list[Any] = [tree]
    while conditions:
        ((kind, body),) = conditions.pop().items()
        if kind == "BoolExpr":
            conditions.extend(body["args"])
        elif kind == "BooleanTest":
            conditions.append(body["arg"])
        elif kind == "NullTest":
            if _type_of(relation, body["arg"]) is None:
                return False
        elif kind == "A_Expr":
            name = body["name"][-1]["String"]["sval"]
            if body["kind"] != "AEXPR_OP" or len(body["name"]) > 1 or name not in _COMPARISONS or "lexpr" not in body:
                return False
            left, right = body["lexpr"], body["rexpr"]
            if not (_fits(relation, left, right) or _fits(relation, right, left)):
                return False
        elif kind == "ColumnRef":
            if _type_of(relation, {kind: body}) != _BOOLEAN:
                return False
        elif kind != "A_Const" or not ("boolval" in body or body.get("isnull")):
            return False
    return True


def _type_of(relation: Relation, node: Node) -> int | None:
    """The built-in type of a column that a node names; None for anything else."""
    if "ColumnRef" not in node:
        return None
    column = relation.column(node["ColumnRef"]["fields"][-1].get("String", {}).get("sval", ""))
    if column is None or not 0 < column.type < FIRST_NORMAL_OID:
        return None
    # A virtual column's expression is judged in its place: arithmetic passes, of others nothing is said here.
    return column.type if column.generated != "v" or column.type in _NUMBERS else None


def _fits(relation: Relation, node: Node, constant: Node) -> bool:
    """Whether a column can certainly be compared with a constant, or with a column of its own type."""
    oid = _type_of(relation, node)
    if oid is None:
        return False
    known = oid in _NUMBERS or oid in _TEXTS or oid in _LITERALS or oid == _BOOLEAN
    if "ColumnRef" in constant:
        return known and _type_of(relation, constant) == oid
    body = constant.get("A_Const")
    if body is None or not known:
        return False
    if body.get("isnull"):
        return True
    if "ival" in body or "fval" in body:
        return oid in _NUMBERS
    if "boolval" in body:
        return oid == _BOOLEAN
    text = body.get("sval", {}).get("sval", "") if "sval" in body else None
    if text is None:
        return False
    return oid in _TEXTS or (oid in _LITERALS and _LITERALS[oid].fullmatch(text) is not None)
