"""A full check of an index's elements and predicate: expressions, COLLATE, operator classes (parser/parse_utilcmd.c:
transformIndexStmt; commands/indexcmds.c: CheckPredicate, ComputeIndexAttrs).

Such refusals are not reported; the index then does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Index, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.index_keys import no_operator_class
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.row_constraints import shows_boolean
from pubcheck.postgres.ddl.stored_expressions import analyze_stored
from pubcheck.postgres.ddl.types import collation_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.postgres.session import Session, rename_columns

if TYPE_CHECKING:
    from pubcheck.postgres.analysis.parse_state import ParseState


def read_predicate(session: Session, relation: Relation, tree: Node) -> tuple[Node | None, bool | None]:
    """Return the predicate of an index with this WHERE, and ``Index.always``.

    The literal TRUE is not a predicate at all (make_ands_implicit). Raises ServerError if the server certainly refuses
    it.
    """
    if not relation.seen:
        return tree, None
    if shows_boolean(relation, tree):
        return tree, False
    # Loaded only where it does not show at a glance.
    from pubcheck.postgres.executor.planner_folding import always_true

    read: list[tuple[Node | None, bool | None]] = [(tree, None)]
    with only_certain(session):
        p, condition = analyze_stored(session, relation, tree, "index predicates")
        expr = coerce_to_boolean(p, condition, "WHERE")
        read += [(None, False) if always_true(expr) else (tree, always_true(_planned_parts(p, expr, "predicate")))]
    return read[-1]


def planned_form(session: Session, relation: Relation, index: Index) -> list[object] | None:
    """Return the expressions and the predicate of an index as the planner leaves them, in a comparable form.

    Columns have their names. None if the form is not known: it then equals no other index.
    """
    forms: list[list[object]] = []
    with only_certain(session):
        forms.append(list(_forms(session, relation, index)))
    return forms[0] if forms else None


def _forms(session: Session, relation: Relation, index: Index) -> Iterator[object]:
    from pubcheck.postgres.executor.planner_folding import always_true, planned

    for tree in index.expressions:
        p, expr = analyze_stored(session, relation, rename_columns(tree), "index expressions")
        assign_collations(p, expr)
        yield _form(relation, planned(p, expr))
    if index.predicate is not None:
        p, condition = analyze_stored(session, relation, rename_columns(index.predicate), "index predicates")
        expr = coerce_to_boolean(p, condition, "WHERE")
        assign_collations(p, expr)
        left = planned(p, expr)
        if not always_true(left):
            yield _form(relation, left)


def _form(relation: Relation, expr: Expr) -> tuple[object, ...]:
    value = relation.columns[expr.value - 1].name if expr.node == "Var" and expr.value else repr(expr.value)
    below = [_form(relation, arg) for arg in expr.args]
    return expr.node, expr.type, expr.typmod, expr.functions, expr.operators, expr.input_collation, value, *below


def refuse_expression(session: Session, relation: Relation, element: Node, method: str) -> None:
    """Raise ServerError if the server certainly refuses an element that is an expression."""
    tree = element["expr"]
    if _is_plain(relation, tree) and "opclass" not in element:
        return
    with only_certain(session):
        p, expr = analyze_stored(session, relation, tree, "index expressions")
        _planned_parts(p, expr, "expression")
        if expr.type == oids.RECORD:
            raise ServerError("42P16", "an index expression has the pseudo-type record")
        if method == "btree" and "opclass" in element:
            _refuse_class(session, element, expr.type)
        elif method == "btree" and session.syscache.default_class(expr.type, "b") == (0, 0):
            raise no_operator_class(session, expr.type, method)


def _planned_parts(p: ParseState, expr: Expr, part: str) -> Expr:
    """An expression or a predicate as the planner leaves it. Raises ServerError for what an index cannot have in it."""
    from pubcheck.postgres.ddl.stored_expressions import refuse_mutable

    assign_collations(p, expr)
    if any(node.node == "Var" and node.value is not None and node.value < 0 for node in nodes(expr)):
        raise ServerError("0A000", "index creation on system columns is not supported")
    return refuse_mutable(p, expr, f"functions in index {part} must be marked IMMUTABLE")


def _is_plain(relation: Relation, tree: Node) -> bool:
    """Return whether it shows at a glance that an expression suits: most are a column in lower or upper case."""
    call = tree.get("FuncCall", {})
    fields = [item.get("ColumnRef", {}).get("fields", ()) for item in call.get("args", ())]
    if len(fields) != 1 or len(fields[0]) != 1 or names(call["funcname"])[-1] not in ("lower", "upper"):
        return False
    column = relation.column(fields[0][0].get("String", {}).get("sval", ""))
    return column is not None and column.type in (TEXT, VARCHAR)


def refuse_column(session: Session, element: Node, oid: int, method: str) -> None:
    """Raise ServerError if the server certainly refuses COLLATE or the operator class of a column of a type."""
    with only_certain(session):
        if "collation" in element:
            collation_of(session, {"collname": element["collation"]}, oid)
        if "opclass" in element and method == "btree":
            _refuse_class(session, element, oid)


def _refuse_class(session: Session, element: Node, oid: int) -> None:
    """ResolveOpClass, of btree. Raises ServerError 42704, 42804, 3F000, Unknowable."""
    parts = names(element["opclass"])
    name, written = parts[-1], ".".join(parts)
    accepted = BTREE.get(name) if parts[:-1] in ([], ["pg_catalog"]) else None
    if accepted is not None:
        if not session.syscache.binary_coercible(oid, accepted):
            shown = session.syscache.format_type(oid)
            raise ServerError("42804", f'operator class "{written}" does not accept data type {shown}')
    elif all_objects_known(session) and not _is_created(session, name):
        if len(parts) > 1 and parts[-2] not in session.catalog.namespace_names:
            raise ServerError("3F000", f'schema "{parts[-2]}" does not exist')
        raise ServerError("42704", f'operator class "{written}" does not exist for access method "btree"')


def _is_created(session: Session, name: str) -> bool:
    """Return whether the unit, or an extension that it makes, has an operator class of that name."""
    kinds: Sequence[str] = ("extension", "operator class")
    objects = session.catalog.others.values()
    return any(row.kind in kinds and (row.kind == "extension" or row.name == name) for row in objects)


BTREE = {
    "array_ops": oids.ANYARRAY, "bit_ops": 1560, "bool_ops": 16, "bpchar_ops": 1042, "bpchar_pattern_ops": 1042,
    "bytea_ops": 17, "char_ops": 18, "cidr_ops": 869, "date_ops": 1082, "enum_ops": oids.ANYENUM, "float4_ops": 700,
    "float8_ops": 701, "inet_ops": 869, "int2_ops": 21, "int4_ops": 23, "int8_ops": 20, "interval_ops": 1186,
    "jsonb_ops": 3802, "macaddr8_ops": 774, "macaddr_ops": 829, "money_ops": 790, "multirange_ops": oids.ANYMULTIRANGE,
    "name_ops": 19, "numeric_ops": 1700, "oid_ops": 26, "oidvector_ops": 30, "pg_lsn_ops": 3220,
    "range_ops": oids.ANYRANGE, "record_image_ops": 2249, "record_ops": 2249, "text_ops": 25, "text_pattern_ops": 25,
    "tid_ops": 27, "time_ops": 1083, "timestamp_ops": 1114, "timestamptz_ops": 1184, "timetz_ops": 1266,
    "tsquery_ops": 3615, "tsvector_ops": 3614, "uuid_ops": 2950, "varbit_ops": 1562, "varchar_ops": 25,
    "varchar_pattern_ops": 25, "xid8_ops": 5069,
}  # fmt: skip
"""The operator classes of btree that initdb makes, in 15 to 18, and the type that each is for (pg_opclass)."""
