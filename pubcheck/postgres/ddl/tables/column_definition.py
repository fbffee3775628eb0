"""The definition of a column in CREATE or ALTER TABLE (parser/parse_utilcmd.c: transformColumnDefinition).

Constraints and defaults that a column cannot have, or cannot have together (transformConstraintAttrs), are not
reported; the table or column is then not created.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from pubcheck.postgres.catalog import COLLATION, FIRST_GENERATED, FIRST_NORMAL_OID, NORMAL, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Column, NotNull, Relation
from pubcheck.postgres.ddl.tables.default_types import default_type, is_simple, suits
from pubcheck.postgres.ddl.types import COLLATIONS, collation_of, typmod_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.oids import INT8
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, rename_columns
from pubcheck.postgres.versions import Major

_VALUES = ("CONSTR_DEFAULT", "CONSTR_IDENTITY", "CONSTR_GENERATED")
_ENFORCEMENT = ("CONSTR_ATTR_ENFORCED", "CONSTR_ATTR_NOT_ENFORCED")
_NOT_NULL = ("CONSTR_IDENTITY", "CONSTR_PRIMARY")
"""Constraints that make their column NOT NULL."""
_DEFERRING = ("CONSTR_ATTR_DEFERRABLE", "CONSTR_ATTR_NOT_DEFERRABLE", "CONSTR_ATTR_DEFERRED", "CONSTR_ATTR_IMMEDIATE")
_DEFERRABLE = ("CONSTR_PRIMARY", "CONSTR_UNIQUE", "CONSTR_EXCLUSION", "CONSTR_FOREIGN")


def refuse_contradictions(major: Major, name: str, constraints: Sequence[Node], serial: bool) -> None:
    """Raise ServerError 42601 for conflicting constraints of a column; ``serial``: its type gives it a default and NOT
    NULL.
    """
    kinds = tuple([item["Constraint"]["contype"] for item in constraints])
    message = _contradiction(kinds, serial, named=major.named_not_null, enforcement=major.enforcement)
    if message is not None:
        raise ServerError("42601", message)
    if major.named_not_null and "CONSTR_NOTNULL" in kinds:
        _refuse_unlike_not_nulls(name, constraints, serial or any(kind in _NOT_NULL for kind in kinds))


def _refuse_unlike_not_nulls(column: str, constraints: Sequence[Node], inheritable: bool) -> None:
    """Refuse NOT NULL constraints of a column that are not one; ``inheritable``: something else makes it NOT NULL."""
    nodes = [item["Constraint"] for item in constraints if item["Constraint"]["contype"] == "CONSTR_NOTNULL"]
    no_inherit = [node.get("is_no_inherit", False) for node in nodes]
    if any(no_inherit) and (inheritable or not all(no_inherit)):
        message = f'conflicting NO INHERIT declarations for not-null constraints on column "{column}"'
        raise ServerError("42601", message)
    names = list(dict.fromkeys(node["conname"] for node in nodes if "conname" in node))
    if len(names) > 1:
        raise ServerError("XX000", f'conflicting not-null constraint names "{names[0]}" and "{names[1]}"')


@lru_cache(maxsize=1024)
def _contradiction(kinds: tuple[str, ...], serial: bool, *, named: bool, enforcement: bool) -> str | None:
    if "CONSTR_NULL" in kinds:
        filled = ("CONSTR_NOTNULL", "CONSTR_IDENTITY", *(("CONSTR_PRIMARY",) if named else ()))
        if serial or any(kind in filled for kind in kinds):
            return "conflicting NULL/NOT NULL declarations"
    if serial + sum(kind in _VALUES for kind in kinds) > 1:
        return "multiple default values, identities or generation expressions"
    last = ""
    for kind in kinds:
        if kind in _ENFORCEMENT:
            if not enforcement or last not in ("CONSTR_CHECK", "CONSTR_FOREIGN"):
                return "misplaced ENFORCED clause"
        elif kind in _DEFERRING:
            if last not in _DEFERRABLE:
                return "misplaced DEFERRABLE clause"
        else:
            last = kind
    return None


SERIAL = {
    "serial": "int4",
    "serial4": "int4",
    "bigserial": "int8",
    "serial8": "int8",
    "smallserial": "int2",
    "serial2": "int2",
}


def define_column(
    session: Session, body: Node, number: int, constraints: list[Node], owned: list[tuple[str, Node]]
) -> Column:
    """Return a ColumnDef as a column (transformColumnDefinition).

    Constraints of the table go to ``constraints``. Definitions that create objects of their own (a default that may
    call something, a serial's or identity's sequence) go to ``owned``.
    """
    name = body["colname"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{name}" conflicts with a system column name')
    oid, typmod, collation, serial = _written_type(session, body)
    stated = body.get("constraints", ())
    if len(stated) > 1 or (stated and (serial or "ATTR" in stated[0]["Constraint"]["contype"])):
        refuse_contradictions(session.catalog.major, name, stated, bool(serial))
    storage = _written_storage(session, body, oid) if "storage_name" in body or "compression" in body else ""
    if not (serial or "is_not_null" in body) and (not stated or (len(stated) == 1 and is_just_not_null(stated[0]))):
        return Column(number, name, oid, bool(stated), collation=collation, typmod=typmod, storage=storage)
    not_null, identity, generated, default, of_type = body.get("is_not_null", False), "", "", False, 0
    reads: tuple[str, ...] = ()
    tree: object = None
    if serial:
        not_null, default, of_type = True, True, INT8
        owned.append((name, {"serial": True}))
    held: NotNull | None = None
    of_table: list[Node] = []
    for item in stated:
        constraint = item["Constraint"]
        kind = constraint["contype"]
        if kind == "CONSTR_NOTNULL":
            not_null = True
            if "conname" in constraint or "is_no_inherit" in constraint:
                held = _named(session, constraint)
        elif kind == "CONSTR_DEFAULT":
            expression = constraint["raw_expr"]
            default, of_type = True, default_type(session, expression, oid, typmod)
            tree = kept_tree(session, expression)
            if not (oid and is_simple(expression) and suits(session, oid, of_type, expression, simple=True)):
                owned.append((name, constraint))
        elif kind == "CONSTR_IDENTITY":
            identity, not_null = constraint["generated_when"], True
            owned.append((name, constraint))
        elif kind == "CONSTR_GENERATED":
            generated = constraint.get("generated_kind", "s")
            reads = tuple(column_names(constraint.get("raw_expr")))
            tree = _virtual_tree(session, constraint) if generated == "v" else rename_columns(constraint["raw_expr"])
            owned.append((name, constraint))
        else:
            of_table.append(constraint)
            not_null = not_null or kind == "CONSTR_PRIMARY"
    if of_table:
        constraints += _constraints_of_table(name, of_table)
    column = Column(
        number,
        name,
        oid,
        not_null,
        identity,
        generated,
        default,
        collation=collation,
        expression=reads,
        constraint=held,
        typmod=typmod,
        tree=tree,
        storage=storage,
        default_type=of_type,
    )
    if identity:
        refuse_identity_type(column)
    return column


def is_just_not_null(stated: Node) -> bool:
    """Return whether a constraint is NOT NULL without anything else. Most columns have this or no constraint."""
    constraint = stated["Constraint"]
    return (
        constraint["contype"] == "CONSTR_NOTNULL" and "conname" not in constraint and "is_no_inherit" not in constraint
    )


_PSEUDO = frozenset((705, 2249, *range(2275, 2284), 2287, 2776, 3500, 3831, 3838, 4537, 4538, *range(5077, 5081)))
"""The oids of the pseudo-types that somebody might take for a column's (CheckAttributeType)."""


def refuse_pseudo_type(column: Column) -> None:
    if column.type in _PSEUDO:
        raise ServerError("42P16", f'column "{column.name}" has a pseudo-type')


def _written_type(session: Session, body: Node) -> tuple[int, int, int, str]:
    """(type, typmod, collation, what a serial is over) of a ColumnDef; of one that says no type nothing is known."""
    type_name = body.get("typeName")
    if type_name is None:
        return 0, -1, 0, ""
    parts = type_name["names"]
    serial = SERIAL.get(parts[0]["String"]["sval"], "") if len(parts) == 1 else ""
    if serial and "arrayBounds" not in type_name:
        oid = session.named_type(["pg_catalog", serial])
        return oid, -1, collation_of(session, body.get("collClause"), oid), serial
    try:
        oid = session.type_oid(type_name)
    except ServerError as error:
        error.location = error.culprit = type_name.get("location")
        raise
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    if oid >= FIRST_GENERATED or "collClause" in body:
        return oid, typmod, collation_of(session, body.get("collClause"), oid), serial
    return oid, typmod, COLLATIONS.get(oid, 0), serial


def _written_storage(session: Session, body: Node, oid: int) -> str:
    """STORAGE of a new column, which came with 16. Raises ServerError 42601 and what is wrong with COMPRESSION."""
    # Loaded only for columns that say how they are stored.
    from pubcheck.postgres.ddl.storage import refuse_compression, storage_of

    if "storage_name" in body and not session.catalog.major.column_storage:
        raise ServerError("42601", 'syntax error at or near "STORAGE"')
    if "compression" in body:
        refuse_compression(session, body["compression"], oid)
    return storage_of(session, body["storage_name"], oid) if "storage_name" in body else ""


def kept_tree(session: Session, expression: Node) -> object:
    """Return the expression of a default, if definitions are kept."""
    return rename_columns(expression) if session.catalog.keeps_definitions else None


def _virtual_tree(session: Session, constraint: Node) -> object:
    """The expression of a VIRTUAL column, to be read again. Raises ServerError 42601 where there are none."""
    if not session.catalog.major.virtual_columns:
        raise ServerError("42601", 'syntax error at or near "VIRTUAL"', location=session.find_name("virtual"))
    tree: object = rename_columns(constraint["raw_expr"])
    return tree


def _named(session: Session, constraint: Node) -> NotNull | None:
    """A NOT NULL with a name or NO INHERIT, where there are constraints of that kind (18)."""
    if not session.catalog.major.named_not_null:
        if "is_no_inherit" in constraint:
            raise ServerError("42601", 'syntax error at or near "NO"')
        return None
    return NotNull(constraint.get("conname", ""), no_inherit=constraint.get("is_no_inherit", False))


def _constraints_of_table(name: str, constraints: list[Node]) -> list[Node]:
    """Return a column's keys and checks as table constraints (transformConstraintAttrs)."""
    table_constraints: list[Node] = []
    last: Node | None = None
    for constraint in constraints:
        kind = constraint["contype"]
        if kind in ("CONSTR_PRIMARY", "CONSTR_UNIQUE"):
            last = {**constraint, "keys": [{"String": {"sval": name}}]}
            table_constraints.append(last)
        elif kind == "CONSTR_FOREIGN":
            last = {**constraint, "fk_attrs": [{"String": {"sval": name}}]}
            table_constraints.append(last)
        elif kind == "CONSTR_CHECK":
            table_constraints.append({**constraint, "of_column": name})
        elif last is not None:
            last.update(_ATTRIBUTES.get(kind, {}))
    return table_constraints


_ATTRIBUTES = {
    "CONSTR_ATTR_DEFERRABLE": {"deferrable": True},
    "CONSTR_ATTR_DEFERRED": {"deferrable": True, "initdeferred": True},
    "CONSTR_ATTR_NOT_ENFORCED": {"is_enforced": False},
}
"""The attributes that may follow a constraint, as fields of its node."""


def own_defaults(node: Node) -> set[str]:
    """Return the columns of a CREATE TABLE that have a default, an identity or an expression."""
    kinds = ("CONSTR_DEFAULT", "CONSTR_IDENTITY", "CONSTR_GENERATED")
    bodies = (element["ColumnDef"] for element in node.get("tableElts", ()) if "ColumnDef" in element)
    return {
        body["colname"]
        for body in bodies
        if any(item["Constraint"]["contype"] in kinds for item in body.get("constraints", ()))
        or (body.get("typeName") and body["typeName"]["names"][-1]["String"]["sval"] in SERIAL)
    }


_IDENTITY_TYPES = (20, 21, 23)


def refuse_identity_type(column: Column) -> None:
    """Raise ServerError 22023 for an identity column of a type other than an integer; domains are refused too."""
    if column.type and column.type not in _IDENTITY_TYPES:
        raise ServerError("22023", "identity column type must be smallint, integer, or bigint")


def depend_on_types(session: Session, row: Relation) -> None:
    for column in row.columns:
        if column.type >= FIRST_NORMAL_OID or column.collation >= FIRST_NORMAL_OID:
            depend_on_type(session, row.oid, column)
    if row.of_type >= FIRST_NORMAL_OID:
        session.catalog.depend((RELATION, row.oid, 0), (TYPE, row.of_type, 0), NORMAL)


def depend_on_type(session: Session, relation: int, column: Column) -> None:
    """Record that a column depends on its user-defined type or collation."""
    if column.collation >= FIRST_NORMAL_OID:
        session.catalog.depend((RELATION, relation, column.number), (COLLATION, column.collation, 0), NORMAL)
    if column.type >= FIRST_NORMAL_OID:
        session.catalog.depend((RELATION, relation, column.number), (TYPE, column.type, 0), NORMAL)


def attach_default(session: Session, relation: int, name: str, definition: Node) -> None:
    """Add the objects and dependencies of a default, an identity or a generation expression (StoreAttrDefault)."""
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is not None:
        _DEFAULTS["serial" if "serial" in definition else definition["contype"]](session, row, column, definition)


_DEFAULTS: Deferred[str, Callable[[Session, Relation, Column, Node], None]] = Deferred(
    "pubcheck.postgres.ddl.tables",
    {
        "CONSTR_DEFAULT": "default_values:attach_value",
        "CONSTR_GENERATED": "default_values:attach_generation",
        "CONSTR_IDENTITY": "default_values:attach_sequence",
        "serial": "default_values:attach_sequence",
    },
)
