"""Type modifiers and collations, as a column or a domain is given them (parser/parse_type.c, catalog/namespace.c)."""

from __future__ import annotations

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, names

DEFAULT_COLLATION, C_COLLATION = 100, 950
UNSEEN_COLLATION = -1
"""A collation that the unit did not make and that depends on the server's build."""

COLLATIONS = {
    19: C_COLLATION,
    25: DEFAULT_COLLATION,
    194: DEFAULT_COLLATION,
    1003: C_COLLATION,
    1009: DEFAULT_COLLATION,
    1014: DEFAULT_COLLATION,
    1015: DEFAULT_COLLATION,
    1042: DEFAULT_COLLATION,
    1043: DEFAULT_COLLATION,
    3361: DEFAULT_COLLATION,
    3402: DEFAULT_COLLATION,
    4600: DEFAULT_COLLATION,
    4601: DEFAULT_COLLATION,
    5017: DEFAULT_COLLATION,
}
"""typcollation of the collatable types that have oids by hand: name, text, bpchar, varchar, their arrays, and what the
server keeps in its own catalogs (pg_node_tree...)."""
FIRST_UNPINNED = 10000
"""FirstGenbkiObjectId (access/transam.h): from here on oids differ between majors (information_schema's domains)."""


def typmod_of(session: Session, type_name: Node, oid: int) -> int:
    """atttypmod of a TypeName that has modifiers, -1 where they cannot be told; ``oid`` is its type.

    The modifiers of an array type are its element's. Raises ServerError as the server does.
    """
    if not oid:
        return -1
    if "arrayBounds" in type_name:
        oid = session.named_type(names(type_name["names"]))
    given = type_name["typmods"]
    try:
        key = (oid, *[item["A_Const"]["ival"].get("ival", 0) for item in given])
    except KeyError:
        key = ()
    typmod = session.typmods.get(key)
    if typmod is None:
        typmod = _typmod(session, oid, given)
        if key and oid < FIRST_NORMAL_OID:
            session.typmods[key] = typmod
    return typmod


def _typmod(session: Session, oid: int, given: list[Node]) -> int:
    try:
        from pubcheck.postgres.literals.typmods import typmod_of as worked_out
    except ImportError:
        return -1

    try:
        return worked_out(session.cache, oid, given, None)
    except Unknowable:
        return -1
    except ServerError as error:
        # Followed, not judged.
        raise ServerError(error.sqlstate, error.message, detail=error.detail, hint=error.hint) from None


def type_collation(session: Session, oid: int) -> int:
    """typcollation: 0 for a type that is not collatable, or not visible."""
    if oid < FIRST_UNPINNED:
        return COLLATIONS.get(oid, 0)
    if oid < FIRST_NORMAL_OID:
        try:
            return session.cache.type(oid).collation
        except Unknowable:
            return 0
    row = session.catalog.types.get(oid)
    return row.collation if row is not None else 0


def collation_of(session: Session, clause: Node | None, oid: int) -> int:
    """attcollation of a column of a type with or without COLLATE; UNSEEN_COLLATION for one that is not visible.

    Raises ServerError 42704, and 42804 for a type that takes no collation (GetColumnDefCollation).
    """
    default = type_collation(session, oid)
    if clause is None:
        return default
    chosen = named_collation(session, names(clause["collname"]))
    if not default and oid and (oid < FIRST_NORMAL_OID or oid in session.catalog.types):
        from pubcheck.postgres.ddl.descriptions import format_type

        raise ServerError("42804", f"collations are not supported by type {format_type(session, oid)}")
    return chosen


def named_collation(session: Session, parts: list[str]) -> int:
    """A collation's oid; UNSEEN_COLLATION for one that is not visible. Raises ServerError 42704."""
    if parts[-1] in ("default", "C") and parts[:-1] in ([], ["pg_catalog"]) and not session.catalog.collations:
        return DEFAULT_COLLATION if parts[-1] == "default" else C_COLLATION
    try:
        return session.cache.collation_named(parts, None).oid
    except Unknowable:
        return UNSEEN_COLLATION
    except ServerError as error:
        raise ServerError(error.sqlstate, error.message) from None
