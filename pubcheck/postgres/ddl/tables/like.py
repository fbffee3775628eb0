"""LIKE: what a table copies from another once and for all (parser/parse_utilcmd.c: transformTableLikeClause,
expandTableLikeClause).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, Index, NotNull, Relation
from pubcheck.postgres.ddl.indexes import define_index, spec_of
from pubcheck.postgres.ddl.tables.inheritance import copy_check
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session

LIKE_CONSTRAINTS, LIKE_DEFAULTS, LIKE_GENERATED, LIKE_IDENTITY, LIKE_INDEXES, LIKE_STORAGE = 4, 8, 16, 32, 64, 256
"""TableLikeOption bits (nodes/parsenodes.h)."""


def copy_columns(columns: list[Column], taken: set[str], source: Relation, options: int) -> None:
    """transformTableLikeClause: names, types and NOT NULL always; the rest as INCLUDING says."""
    for column in source.live():
        generated = column.generated if options & LIKE_GENERATED else ""
        if column.name in taken:
            raise ServerError("42701", f'column "{column.name}" specified more than once')
        columns.append(
            replace(
                column,
                identity=column.identity if options & LIKE_IDENTITY else "",
                generated=generated,
                expression=column.expression if generated else (),
                tree=column.tree if generated else None,
                storage=column.storage if options & LIKE_STORAGE else "",
                has_default=column.has_default and bool(options & LIKE_DEFAULTS),
                inherited=0,
                local=True,
                constraint=column.constraint
                and NotNull(column.constraint.name, no_inherit=column.constraint.no_inherit),
            )
        )


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
    """LIKE ... INCLUDING INDEXES: indexes and keys under names made anew (expandTableLikeClause)."""
    catalog = session.catalog
    if not options & LIKE_INDEXES:
        return
    for oid in catalog.indexes_of.get(source.oid):
        index: Index = catalog.indexes[oid]
        spec = spec_of(session, catalog.relations[source.oid], index, catalog.owner_of_index(oid))
        define_index(session, catalog.relations[target], spec)
