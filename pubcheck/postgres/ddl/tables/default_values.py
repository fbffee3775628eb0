"""Defaults of columns, and the objects and dependencies that come with them: sequences and generation expressions
(catalog/heap.c: StoreAttrDefault).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, DEFAULT, INTERNAL, NORMAL, PROC, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.object_address import functions_called, functions_of
from pubcheck.postgres.ddl.sequences import own_sequence, sequences_used
from pubcheck.postgres.ddl.tables.column_definition import attach_default
from pubcheck.postgres.ddl.tables.default_types import is_simple, suits
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import calls_in, plain_call
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session


def attach_sequence(session: Session, row: Relation, column: Column, definition: Node) -> None:
    """The sequence of a serial or identity column, made and owned by it."""
    sequence, serial = own_sequence(session, row, column, definition), "serial" in definition
    column_address = (RELATION, row.oid, column.number)
    session.catalog.depend((RELATION, sequence, 0), column_address, AUTO if serial else INTERNAL)
    if serial:
        _default(session, row.oid, column.number, [(RELATION, sequence, 0)])


def attach_generation(session: Session, row: Relation, column: Column, definition: Node) -> None:
    """The columns that a generated column reads; one that is copied from elsewhere has no ``raw_expr``."""
    catalog, column_address = session.catalog, (RELATION, row.oid, column.number)
    if "raw_expr" in definition and row.seen:
        # Loaded only where there are generated columns.
        from pubcheck.postgres.ddl.stored_expressions import refuse_generated

        refuse_generated(session, row, column, definition["raw_expr"])
    uses = definition.get("uses", [(PROC, oid, 0) for oid in functions_called(session, definition.get("raw_expr"))])
    default = (DEFAULT, catalog.new_oid(), 0)
    # What takes the expression away takes the column with it.
    catalog.depend(default, column_address, INTERNAL if uses else AUTO)
    for used in uses:
        catalog.depend(default, used, NORMAL)
    for referenced in column.expression:
        base = row.column(referenced)
        if base is not None:
            if base.generated and "raw_expr" in definition:
                raise ServerError(
                    "42P17", f'cannot use generated column "{referenced}" in column generation expression'
                )
            catalog.depend(column_address, (RELATION, row.oid, base.number), NORMAL)
        elif row.seen and referenced not in SYSTEM_COLUMNS and referenced != row.name:
            raise ServerError("42703", f'column "{referenced}" does not exist')


def attach_value(session: Session, row: Relation, column: Column, definition: Node) -> None:
    """The sequences and functions that a default uses; what the column certainly cannot have is refused."""
    expression, expression_type = definition["raw_expr"], column.default_type
    if not expression_type and "sval" in expression.get("A_Const", ()):
        expression_type = column.type  # a partition's column does not say its type
    simple = is_simple(expression)
    refuse_default(session, row, column, expression, expression_type, simple=simple)
    calls = calls_in(expression)
    uses = [(PROC, function, 0) for function in functions_of(session, calls)]
    if not simple:
        uses += [(RELATION, sequence.oid, 0) for sequence in sequences_used(session, calls) if sequence]
    if uses:
        _default(session, row.oid, column.number, uses)


def refuse_default(
    session: Session, row: Relation, column: Column, expression: Node, expression_type: int, *, simple: bool
) -> None:
    """Raise ServerError if the server certainly refuses a default; ``expression_type`` is its type, 0 if unknown, and
    ``simple`` the answer of ``is_simple``."""
    plain = simple or plain_call(expression) is not None
    if not plain:
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.stored_expressions import refuse_out_of_place

        refuse_out_of_place(expression, "DEFAULT expression", columns="DEFAULT expression")
    if column.type and not (plain and suits(session, column.type, expression_type, expression, simple=simple)):
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.stored_expressions import refuse_default_value

        refuse_default_value(session, row, column, expression)


def copy_defaults(session: Session, relation: int, own: set[str], sources: list[Relation]) -> None:
    """Add the dependencies of defaults and expressions that came with the columns of other tables."""
    catalog = session.catalog
    for column in catalog.relations[relation].live():
        if column.name in own:
            continue
        uses: list[tuple[str, int, int]] = []
        for source in sources if column.generated or column.has_default else ():
            source_column = source.column(column.name)
            if source_column is not None and (source_column.has_default or source_column.generated):
                uses = _uses_of_default(session, source.oid, source_column.number)
                break
        if column.generated:
            attach_default(session, relation, column.name, {"contype": "CONSTR_GENERATED", "uses": uses})
        elif uses:
            _default(session, relation, column.number, uses)


def _uses_of_default(session: Session, relation: int, number: int) -> list[tuple[str, int, int]]:
    catalog = session.catalog
    return [
        (*key, used)
        for dependent, of, _ in catalog.dependents.get((RELATION, relation))
        if dependent[0] == DEFAULT and of == number
        for key, (_, used, how) in catalog.dependencies.get(dependent[:2])
        if how == NORMAL
    ]


def add_use_of_default(session: Session, relation: int, number: int, used: tuple[str, int, int]) -> None:
    """Add a dependency to the default of a column."""
    uses = _uses_of_default(session, relation, number)
    if used not in uses:
        _default(session, relation, number, [used])


def _default(session: Session, relation: int, number: int, uses: list[tuple[str, int, int]]) -> None:
    catalog = session.catalog
    default = (DEFAULT, catalog.new_oid(), 0)
    catalog.depend(default, (RELATION, relation, number), AUTO)
    for used in uses:
        catalog.depend(default, used, NORMAL)
