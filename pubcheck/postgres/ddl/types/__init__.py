"""The common parts of all kinds of types: their names, their arrays and their shells (commands/typecmds.c,
catalog/pg_type.c), and the modifiers and collations that columns and domains give them (parser/parse_type.c,
catalog/namespace.c). ``create`` has the statements.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog import FIRST_GENERATED, FIRST_NORMAL_OID, PG_CATALOG, TYPE
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.ddl.new_objects import depend_on_schema
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session


def free_type_name(session: Session, namespace: int, name: str) -> None:
    """Free a name for a type: an array type of that name gets another one (moveArrayTypeName).

    Raises ServerError 42710.
    """
    catalog = session.catalog
    oid = catalog.type_names.get((namespace, name))
    if oid is not None:
        _move_array(session, catalog.types[oid])
        return
    relation = session.relation_in(namespace, name)
    if relation is not None and relation.seen and relation.kind in "rpvmf":
        raise ServerError("42710", 'type "{name}" already exists', name=name)


def shell_named(session: Session, namespace: int, name: str) -> Type | None:
    """The shell type of that name, or None."""
    oid = session.catalog.type_names.get((namespace, name))
    row = session.catalog.types[oid] if oid is not None else None
    return row if row is not None and row.shell else None


def refuse_shell(row: Type) -> None:
    """Raise ServerError 42704 for a type that has only a name."""
    if row.shell:
        raise ServerError("42704", f'type "{row.name}" is only a shell')


def new_type_oid(session: Session, namespace: int, name: str) -> int:
    """Return the oid of a type that is created: that of its shell, which it fills in, or a new one (TypeCreate).

    Raises ServerError 42710.
    """
    shell = shell_named(session, namespace, name)
    if shell is not None:
        return shell.oid
    free_type_name(session, namespace, name)
    return session.catalog.new_oid()


def free_row_type_name(session: Session, namespace: int, name: str) -> None:
    """Free a name for the row type of a new relation, which is created when it is first used."""
    oid = session.catalog.type_names.get((namespace, name))
    if oid is not None:
        row = session.catalog.types[oid]
        if row.shell:
            session.catalog.remove(TYPE, oid)
        elif row.seen and not row.relation:
            _move_array(session, row)


def _move_array(session: Session, row: Type) -> None:
    """Another name for an array type in the way (moveArrayTypeName). Raises ServerError 42710 for any other type."""
    catalog = session.catalog
    if not (row.subscript == "a" and row.name.startswith("_")):
        raise ServerError("42710", 'type "{name}" already exists', name=row.name)
    catalog.rename(row, name=catalog.array_type_name(row.namespace, row.name))


def new_type(session: Session, row: Type) -> Type:
    row = session.catalog.add_type_with_array(row)
    depend_on_schema(session, (TYPE, row.oid, 0), row.namespace)
    return row


def make_shell(session: Session, namespace: int, name: str) -> Type:
    """TypeShellMake: create a type that has only a name."""
    row = Type(session.catalog.new_oid(), name, namespace, session.setting("role"), "p", seen=True)
    session.catalog.add(row)
    depend_on_schema(session, (TYPE, row.oid, 0), namespace)
    return row


DEFAULT_COLLATION, C_COLLATION = 100, 950
UNSEEN_COLLATION = -1
"""A collation that the unit did not make and that depends on the server's build."""

COLLATIONS = {
    **dict.fromkeys((19, 1003), C_COLLATION),
    **dict.fromkeys((25, 194, 1009, 1014, 1015, 1042, 1043, 3361, 3402, 4600, 4601, 5017), DEFAULT_COLLATION),
}
"""typcollation of the collatable types that have oids by hand: name, text, bpchar, varchar, their arrays, and what the
server keeps in its own catalogs (pg_node_tree...)."""


def typmod_of(session: Session, type_name: Node, oid: int) -> int:
    """Return the atttypmod of a TypeName that has modifiers, -1 if it cannot be known; ``oid`` is its type.

    The modifiers of an array type are its element's. Raises ServerError as the server does.
    """
    if not oid:
        return -1
    if "arrayBounds" in type_name:
        oid = session.named_type(names(type_name["names"]))
    modifiers = type_name["typmods"]
    try:
        key = (oid, *[item["A_Const"]["ival"].get("ival", 0) for item in modifiers])
    except KeyError:
        key = ()
    typmod = session.typmods.get(key)
    if typmod is None:
        typmod = _typmod(session, oid, modifiers)
        if key and oid < FIRST_NORMAL_OID:
            session.typmods[key] = typmod
    return typmod


def _typmod(session: Session, oid: int, modifiers: list[Node]) -> int:
    from pubcheck.postgres.input.typmods import typmod_of as worked_out

    try:
        return worked_out(_Caches(session), oid, modifiers, None)
    except Unknowable:
        return -1
    except ServerError as error:
        # Followed, not checked.
        raise ServerError(error.sqlstate, error.message, detail=error.detail, hint=error.hint) from None


class _Caches:
    """The session's system caches, opened only if a type modifier needs them; most do not."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session.syscache, name)


def known_type(session: Session, oid: int) -> Type | None:
    """Return the row of a type, the server's or the unit's; None if it is unknown."""
    if oid >= FIRST_NORMAL_OID or not oid:
        return session.catalog.types.get(oid)
    try:
        return session.syscache.type(oid)
    except Unknowable:
        return None


def type_collation(session: Session, oid: int) -> int:
    """Return typcollation: 0 for a type that is not collatable, or unknown."""
    if oid < FIRST_GENERATED:
        return COLLATIONS.get(oid, 0)
    row = known_type(session, oid)
    return row.collation if row is not None else 0


def collation_of(session: Session, clause: Node | None, oid: int) -> int:
    """Return attcollation of a column of a type with or without COLLATE; UNSEEN_COLLATION for an unknown one.

    Raises ServerError 42704, and 42804 for a type that takes no collation (GetColumnDefCollation).
    """
    default = type_collation(session, oid)
    if clause is None:
        return default
    chosen = named_collation(session, names(clause["collname"]))
    if not default and oid and (oid < FIRST_NORMAL_OID or oid in session.catalog.types):
        from pubcheck.postgres.ddl.object_descriptions import format_type

        raise ServerError("42804", f"collations are not supported by type {format_type(session, oid)}")
    return chosen


def named_collation(session: Session, parts: list[str]) -> int:
    """Return a collation's oid; UNSEEN_COLLATION for an unknown one. Raises ServerError 42704."""
    catalog, name = session.catalog, parts[-1]
    if not catalog.collations and parts[:-1] in ([], ["pg_catalog"]) and name in _EVERYWHERE:
        return _EVERYWHERE[name]
    from pubcheck.postgres.ddl.object_address import all_objects_known, namespaces

    path = namespaces(session, parts)
    for namespace in path:
        oid = catalog.collation_names.get((namespace, name))
        if oid is not None:
            return oid
        row = session.syscache.builtin.collation_named(name) if namespace == PG_CATALOG else None
        if row is not None:
            return row.oid
    from pubcheck.postgres.session.syscache import depends_on_build

    if not all_objects_known(session) or (PG_CATALOG in path and depends_on_build(name)):
        return UNSEEN_COLLATION
    raise ServerError("42704", f'collation "{".".join(parts)}" for encoding "UTF8" does not exist')


_EVERYWHERE = {"default": DEFAULT_COLLATION, "C": C_COLLATION}
