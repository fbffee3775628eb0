"""The common parts of all kinds of types: their names, their arrays and their shells (commands/typecmds.c,
catalog/pg_type.c).

Each kind has its own module in this package.
"""

from __future__ import annotations

from pubcheck.postgres.catalog import TYPE
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.ddl.new_objects import depend_on_schema
from pubcheck.postgres.errors import ServerError
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
