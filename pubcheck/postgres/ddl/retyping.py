"""ALTER COLUMN ... TYPE: what the server refuses for want of a cast (tablecmds.c: ATPrepAlterColumnType and ATExec-).

Nobody is told of such a refusal; the column then keeps the type that it has.
"""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.descriptions import quote
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.expressions.analyze import transform
from pubcheck.postgres.expressions.coerce import can_coerce, coerce_to_target_type
from pubcheck.postgres.expressions.filters import parse_state
from pubcheck.postgres.expressions.nodes import IMPLICIT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def refuse_cast(session: Session, row: Relation, column: Column, oid: int, typmod: int, using: Node | None) -> None:
    """Raises ServerError 42804 where the column, or what USING says, is of a type that cannot be assigned to the new.

    And the errors of analysis for a USING that the server cannot read. What is not visible may be castable.
    """
    if not row.seen or row.kind not in "rp" or column.generated == "v" or not oid:
        return
    before = session.assumed
    try:
        if using is None:
            _check_column(session, column, oid, typmod)
        else:
            _check_using(session, row, column, oid, typmod, using)
    except Unknowable:
        pass
    except ServerError as error:
        error.rule = None
        if session.assumed == before and not session.blind:
            raise
    session.assumed = before


def _check_column(session: Session, column: Column, oid: int, typmod: int) -> None:
    cache = session.syscache
    if not column.type or can_coerce(cache, column.type, oid, "a"):
        return
    using = f"{quote(session, column.name)}::{cache.format_type(oid, typmod)}"
    raise ServerError(
        "42804",
        f'column "{column.name}" cannot be cast automatically to type {cache.format_type(oid)}',
        hint=None if column.generated else f'You might need to specify "USING {using}".',
    )


def _check_using(session: Session, row: Relation, column: Column, oid: int, typmod: int, using: Node) -> None:
    if column.generated:
        raise ServerError("42611", "cannot specify USING when altering type of generated column")
    p = parse_state(session, row)
    expr = transform(p, using)
    if coerce_to_target_type(p, expr, expr.type, oid, typmod, "a", IMPLICIT, -1) is not None:
        return
    named = session.syscache.format_type(oid)
    raise ServerError(
        "42804",
        f'result of USING clause for column "{column.name}" cannot be cast automatically to type {named}',
        hint="You might need to add an explicit cast.",
    )


def refuse_default(session: Session, column: Column, oid: int) -> None:
    """Raises ServerError 42804 for a default whose own type cannot be assigned to the column's new one."""
    if not column.default_type or not column.has_default or not oid or session.blind:
        return
    cache = session.syscache
    try:
        if can_coerce(cache, column.default_type, oid, "a"):
            return
        named = cache.format_type(oid)
    except Unknowable:
        return
    raise ServerError("42804", f'default for column "{column.name}" cannot be cast automatically to type {named}')
