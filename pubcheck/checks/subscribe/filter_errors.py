"""Row filters that fail for a subscription: on some row the copy and decoding stop.

The server evaluates only a part of a filter: the planner removes conditions that constants decide, and NOT NULL columns
decide some tests before the other arguments are reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places
from pubcheck.checks.silent.filters import analysed, once_a_place
from pubcheck.checks.write.filter_runtime_errors import dangers
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))


def evaluated_part(session: Session, relation: Relation, expr: Expr) -> Expr:
    """Return the filter without the parts that are evaluated on no row; all of it where that is not known, or where
    the server fails before it looks at any row."""
    from pubcheck.postgres.analysis.row_filter import parse_state
    from pubcheck.postgres.executor.planner_folding import planned

    p = parse_state(session, relation)
    try:
        planned(p, expr)
        return planned(p, _decided(session.syscache, relation, expr))
    except (ServerError, Unknowable, RecursionError):
        return expr


def _decided(cache: SysCache, relation: Relation, expr: Expr) -> Expr:
    """The expression with the tests that NOT NULL columns decide."""
    if expr.node == "NullTest" and _is_never_null(cache, relation, expr.args[0]):
        return Expr("Const", BOOL, location=expr.location, value=expr.value == "IS_NOT_NULL")
    args = [_decided(cache, relation, arg) for arg in expr.args]
    if expr.node == "CoalesceExpr":
        last = next((count for count, arg in enumerate(args, 1) if _is_never_null(cache, relation, arg)), len(args))
        args = args[:last]
    return replace(expr, args=args) if args else expr


def _is_never_null(cache: SysCache, relation: Relation, expr: Expr) -> bool:
    if expr.node == "Var":
        column = relation.columns[expr.value - 1] if expr.value > 0 else None
        return column is not None and column.not_null and column.generated != "v"
    if expr.node == "Const":
        return not expr.null
    if expr.node == "OpExpr" and cache.operator(expr.operators[0]).name in _COMPARISONS:
        return all(_is_never_null(cache, relation, arg) for arg in expr.args)
    return expr.node == "RelabelType" and _is_never_null(cache, relation, expr.args[0])


@finds("PUB605")
def filter_can_fail(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters that fail on some row, so that decoding stops there for good."""
    for filtered in once_a_place(context):
        expr = analysed(filtered)
        if expr is None:
            continue
        possible_errors = list(dangers(context.session.syscache, expr))
        if possible_errors:
            reached = evaluated_part(context.session, filtered.relation, expr)
            possible_errors = list(dangers(context.session.syscache, reached))
        if not possible_errors:
            continue
        possible_errors.sort(key=lambda danger: (not danger.always, danger.guarded, danger.severity != "warning"))
        danger = possible_errors[0]
        relation, publication, where = filtered.relation, filtered.publication, filtered.entry.place
        place = Place(where.source, where.statement, danger.location, 0) if danger.location >= 0 else where
        message = (
            f"the row filter on {context.name(relation)} fails {danger.description} ({danger.answer.message}): the "
            "initial copy and decoding stop there, and changing "
            f'publication "{publication.name}" afterwards does not help'
        )
        advice = danger.remedy
        if danger.guarded:
            advice += "; the other conditions exclude such rows only if they are evaluated first, which "
            advice += "PostgreSQL guarantees only for CASE"
        more = [
            (Place(where.source, where.statement, error.location, 0), f"fails {error.description}")
            for error in possible_errors[1:]
        ]
        yield RuleFinding(
            rule="PUB605",
            message=message,
            help=advice,
            place=place,
            certain=filtered.certain,
            related=first_places([error for error in more if error[0].start >= 0 and error[0] != place]),
            object=context.session.qualified(relation),
            publications=(publication.name,),
            severity="note" if danger.guarded else danger.severity,
            server=danger.answer,
        )
