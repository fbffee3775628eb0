"""LIKE: the parts of another table that a new table copies (parser/parse_utilcmd.c: transformTableLikeClause,
expandTableLikeClause).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column, Index, NotNull, Relation
from pubcheck.postgres.ddl.index_keys import IndexSpec
from pubcheck.postgres.ddl.indexes import define_index, spec_of
from pubcheck.postgres.ddl.not_null import require_not_null
from pubcheck.postgres.ddl.tables.inheritance import copy_check
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

LIKE_CONSTRAINTS, LIKE_DEFAULTS, LIKE_GENERATED, LIKE_IDENTITY, LIKE_INDEXES, LIKE_STORAGE = 4, 8, 16, 32, 64, 256
"""TableLikeOption bits (nodes/parsenodes.h)."""


def copied_columns(source: Relation, options: int, owned: list[tuple[str, Node]]) -> Iterator[Column]:
    """transformTableLikeClause: names, types and NOT NULL always; the rest as INCLUDING says.

    An identity column gets a sequence of its own, which goes to ``owned``.
    """
    for column in source.live():
        generated = column.generated if options & LIKE_GENERATED else ""
        if column.identity and options & LIKE_IDENTITY:
            owned.append((column.name, {"contype": "CONSTR_IDENTITY"}))
        yield replace(
            column,
            identity=column.identity if options & LIKE_IDENTITY else "",
            generated=generated,
            expression=column.expression if generated else (),
            tree=column.tree if generated or options & LIKE_DEFAULTS else None,
            storage=column.storage if options & LIKE_STORAGE else "",
            has_default=column.has_default and bool(options & LIKE_DEFAULTS),
            inherited=0,
            local=True,
            constraint=column.constraint and NotNull(column.constraint.name, no_inherit=column.constraint.no_inherit),
        )


def with_columns(session: Session, source: Relation) -> Relation:
    """Return a table of LIKE with its columns and types, also for the server's own catalogs."""
    columns = session.syscache.builtin.columns(source.name) if source.oid < FIRST_NORMAL_OID else None
    if columns is None:
        return source
    if session.catalog.major.named_not_null:
        # They have no constraints, which is what LIKE copies.
        columns = tuple(replace(column, not_null=False) for column in columns)
    return replace(source, columns=columns)


def _indexes_of_catalog(session: Session, source: Relation) -> Iterator[IndexSpec]:
    """Nothing in pg_depend says that they are of constraints (get_index_constraint), so that their copies are not."""
    for kind, keys in session.syscache.builtin.indexes(source.name):
        elements = tuple({"name": source.columns[key - 1].name} for key in keys)
        yield IndexSpec(elements, unique=kind != "n", primary=kind == "p", copied=True)


def copy_constraints(session: Session, source: Relation, target: int, options: int) -> None:
    """LIKE: named NOT NULL constraints come with the columns; CHECK constraints by INCLUDING CONSTRAINTS."""
    catalog = session.catalog
    if not options & LIKE_CONSTRAINTS:
        return
    for oid in catalog.constraints_of.get(source.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c":
            copy_check(session, constraint, target, inherited=False)


def copy_indexes(session: Session, source: Relation, target: int, options: int) -> None:
    """LIKE ... INCLUDING INDEXES: copy indexes and keys under new names (expandTableLikeClause)."""
    catalog = session.catalog
    if not options & LIKE_INDEXES:
        return
    if source.oid < FIRST_NORMAL_OID:
        for spec in _indexes_of_catalog(session, source):
            copy = define_index(session, catalog.relations[target], spec)
            if spec.primary:
                require_not_null(session, target, copy.keys)
        return
    for oid in catalog.indexes_of.get(source.oid):
        index: Index = catalog.indexes[oid]
        spec = spec_of(session, catalog.relations[source.oid], index, catalog.owner_of_index(oid))
        define_index(session, catalog.relations[target], spec)
