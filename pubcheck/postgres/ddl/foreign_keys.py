"""Check that a foreign key can compare its columns with those of the key (commands/tablecmds.c:
ATAddForeignKeyConstraint)."""

from __future__ import annotations

from pubcheck.postgres.analysis.pathways import can_coerce
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import EQUAL


def refuse_pair(session: Session, column: Column, to_column: Column, name: str) -> None:
    """Raise ServerError 42804 if a column certainly cannot refer to the other one, for their types."""
    of_type, to_type = column.type, to_column.type
    with only_certain(session):
        cache = session.syscache
        family, compared = cache.default_class(to_type, "b")
        if not family or cache.opfamily_member(family, compared, cache.base_type(of_type)[0], EQUAL):
            return
        if not (can_coerce(cache, to_type, compared, "i") and can_coerce(cache, of_type, compared, "i")):
            pair = f'"{column.name}" and "{to_column.name}"'
            if session.catalog.major.named_not_null:
                pair = f'"{column.name}" of the referencing table and "{to_column.name}" of the referenced table'
            types = f"{cache.format_type(of_type)} and {cache.format_type(to_type)}"
            raise ServerError(
                "42804",
                f'foreign key constraint "{name}" cannot be implemented',
                detail=f"Key columns {pair} are of incompatible types: {types}.",
            )
