"""The definition of an index, its key columns, and the operator classes of their types
(commands/indexcmds.c: ComputeIndexAttrs)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import OPERATOR_CLASSES, Relation
from pubcheck.postgres.ddl.object_address import find_named
from pubcheck.postgres.ddl.types import named_collation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, require_column


class IndexSpec(Struct, frozen=True):
    """The definition of an index: ``elements`` and ``included`` are IndexElem bodies, ``kind`` the constraint's, if
    any.
    """

    elements: tuple[Node, ...]
    included: tuple[Node, ...] = ()
    name: str = ""
    unique: bool = False
    primary: bool = False
    exclusion: bool = False
    without_overlaps: bool = False
    deferrable: bool = False
    deferred: bool = False
    nulls_not_distinct: bool = False
    where: Node | None = None
    method: str = "btree"
    kind: str = ""
    only: bool = False
    parent: int = 0
    parent_constraint: int = 0
    copied: bool = False
    """Whether it is that of an existing index, so that its expressions are known to be accepted."""
    always: bool | None = False
    """``Index.always`` of the copied index."""
    unsorted: int = 0
    """``Index.unsorted`` of the copied index."""
    operators: tuple[tuple[str, ...], ...] = ()
    """``Index.operators``."""


def key_columns(
    session: Session, relation: Relation, elements: Sequence[Node], *, unique: bool = False, kind: str = ""
) -> tuple[int, ...]:
    """Return the attribute numbers of an index's columns. ``kind`` is that of its constraint, if it has one.

    A unique index over a system column could be a replica identity, so that refusal is reported.
    """
    keys = []
    for element in elements:
        name = element.get("name") or bare_column(session, relation, element)
        if name is None:
            keys.append(0)
        elif name in SYSTEM_COLUMNS:
            raise ServerError(
                "0A000",
                "index creation on system columns is not supported",
                key="index-on-system-column" if unique else None,
            )
        else:
            column = relation.column(name)
            if column is None:
                if relation.seen:
                    raise ServerError("42703", f'column "{name}" does not exist')
                column = require_column(session, relation.oid, name)
            if column.generated == "v":
                keys_of = {"": "indexes", "p": "primary keys"}.get(kind, "unique constraints")
                raise ServerError("0A000", f"{keys_of} on virtual generated columns are not supported")
            keys.append(column.number)
    return tuple(keys)


def first_unsorted(session: Session, relation: Relation, elements: Sequence[Node]) -> int:
    """Return the first element, from 1, with another order, collation or operator class than its column's, or 0."""
    for position, element in enumerate(elements, 1):
        if element.get("ordering") == "SORTBY_DESC" or element.get("nulls_ordering") == "SORTBY_NULLS_FIRST":
            return position
        if "opclass" in element and _is_other_class(session, element):
            return position
        column = relation.column(element.get("name", ""))
        if "collation" in element and column is not None and column.collation:
            names = [part["String"]["sval"] for part in element["collation"]]
            if named_collation(session, names) not in (0, column.collation):
                return position
    return 0


def _is_other_class(session: Session, element: Node) -> bool:
    """Return whether an element has an operator class that is not the default one of its type."""
    name = element["opclass"][-1]["String"]["sval"]
    created = class_created(session, element)
    if created:
        classes = session.catalog.settings.get(OPERATOR_CLASSES, ())
        return all(default.family != created for default in classes)
    return name.endswith("_pattern_ops") or name in _NEVER_DEFAULT


_NEVER_DEFAULT = frozenset(("cidr_ops", "record_image_ops", "varchar_ops"))
"""Operator classes of btree that are not the default of any type."""


def class_created(session: Session, element: Node) -> int:
    """Return the operator class that the unit created and an element of an index names; 0 for any other."""
    words = [part["String"]["sval"] for part in element["opclass"]]
    others = session.catalog.other_names
    return find_named(session, words, lambda schema, name: others.get(("operator class", schema, name)))


_CLASSES = {
    "brin": "bytea char name int8 int2 int4 text oid tid box float4 float8 macaddr8 macaddr inet bpchar date time "
    "timestamp timestamptz interval timetz bit varbit numeric uuid pg_lsn anyrange",
    "gin": "anyarray tsvector jsonb",
    "gist": "point box polygon circle tsvector tsquery anyrange anymultirange",
    "hash": "bool bytea char name int8 int2 int4 text oid tid xid cid oidvector float4 float8 macaddr8 macaddr inet "
    "aclitem bpchar date time timestamp timestamptz interval timetz numeric anyarray uuid pg_lsn jsonb anyrange "
    "anymultirange xid8",
    "spgist": "text point box polygon inet anyrange",
}
"""Types with a default operator class in all majors (pg_opclass.opcdefault)."""
_ADDING = {"gin": ("btree_gin",), "gist": ("btree_gist", "intarray")}
"""Extensions with default operator classes for built-in types."""
_STORED_AS = {"varchar": "text", "cidr": "inet"}


def refuse_without_operator_class(
    session: Session, relation: Relation, method: str, elements: Sequence[Node], keys: Sequence[int]
) -> None:
    """Raise ServerError 42704 for a key of a built-in type without a default operator class.

    Examples are json in btree and text in gin. Extensions may add one (btree_gin).
    """
    if method != "btree" and (
        method not in _CLASSES
        or not session.syscache.complete_names
        or any(("extension", 0, name) in session.catalog.other_names for name in _ADDING.get(method, ()))
    ):
        return
    for element, key in zip(elements, keys, strict=True):
        oid = relation.columns[key - 1].type if key else 0
        if not oid or (method == "btree" and oid in ORDERED) or "opclass" in element:
            continue
        try:
            base = session.syscache.base_type(oid)[0]
        except Unknowable:
            continue
        if base and base < FIRST_NORMAL_OID and not _has_class(session, method, base):
            raise no_operator_class(session, oid, method)


def no_operator_class(session: Session, oid: int, method: str) -> ServerError:
    """Return the error for a key whose type has no default operator class for an access method (GetIndexOpClass)."""
    shown = session.syscache.format_type(oid)
    return ServerError(
        "42704",
        f'data type {shown} has no default operator class for access method "{method}"',
        hint="You must specify an operator class for the index or define a default operator class for the data type.",
    )


def _has_class(session: Session, method: str, oid: int) -> bool:
    if method == "btree":
        return bool(session.syscache.default_class(oid, "b")[0])
    row, classes = session.syscache.type(oid), _CLASSES[method].split()
    if method == "gist" and session.catalog.major.gist_inet:
        classes.append("inet")
    kind = "anyarray" if row.category == "A" else _POLYMORPHIC.get(row.kind, _STORED_AS.get(row.name, row.name))
    if kind in classes or (kind.startswith("reg") and "oid" in classes):
        return True
    return bool(session.syscache.default_class(oid, method)[0])


_POLYMORPHIC = {"r": "anyrange", "m": "anymultirange"}


def bare_column(session: Session, relation: Relation, element: Node) -> str | None:
    """A column in parentheses is not an expression to the server, COLLATE or a cast to its own type or not
    (ComputeIndexAttrs); a whole row is, and so is a function of it, which is written like a column of the table."""
    expression = element.get("expr", {})
    while "CollateClause" in expression:
        expression = expression["CollateClause"].get("arg", {})
    cast = expression.get("TypeCast")
    if cast is not None and "typmods" not in cast["typeName"]:
        inner = bare_column(session, relation, {"expr": cast["arg"]})
        column = relation.column(inner) if inner is not None else None
        own = column is not None and column.type != 0 and session.type_oid(cast["typeName"]) == column.type
        return inner if own else None
    fields = expression.get("ColumnRef", {}).get("fields", ())
    name: str | None = fields[-1].get("String", {}).get("sval") if fields else None
    if name is None or relation.column(name) is not None:
        return name
    return None if name == relation.name or (len(fields) > 1 and relation.seen) else name


ORDERED = oids.named(
    "BOOL BPCHAR BYTEA DATE FLOAT4 FLOAT8 INT2 INT4 INT8 JSONB NAME NUMERIC TEXT TIMESTAMP TIMESTAMPTZ UUID VARCHAR"
)
"""Types of most keys, all with a default operator class: for them the snapshot of pg_opclass is not opened."""
