"""Row filters that are true for no row, for every row, or for no row that another filter leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import Filtered, RuleContext, RuleFinding, finds
from pubcheck.checks.silent.filters import analysed, once_a_place
from pubcheck.checks.tables import table_name
from pubcheck.filter_logic.questions import Coverage, NoRow, TableFilters
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.tokens import identifier

_OF_ROWS = ("insert", "update", "delete")
_SESSION = "the date and the settings of the session that creates the publication"
_COMPARED = 20
"""Filters of a table that are compared with each other."""


@finds("PUB607")
def true_for_no_row(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters that publish no change of a row."""
    for filtered, coverage in _coverages(context):
        if not isinstance(coverage.true, NoRow) or isinstance(coverage.not_true, NoRow):
            continue
        table, publication = context.name(filtered.relation), filtered.publication.name
        message = f'the row filter of publication "{publication}" is true for no row'
        if isinstance(coverage.without_constraints, NoRow):
            message += f" of {table}"
        else:
            message += f" that the constraints of {table} allow"
        yield _finding(
            context,
            "PUB607",
            filtered,
            f"{message}: no change of a row is published",
            f"correct the filter, or ALTER PUBLICATION {identifier(publication)} DROP TABLE "
            f"{table_name(context.session, filtered.relation)}",
        )


@finds("PUB608")
def true_for_every_row(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters that leave nothing out."""
    for filtered, coverage in _coverages(context):
        if not isinstance(coverage.not_true, NoRow) or isinstance(coverage.true, NoRow):
            continue
        table, publication = context.name(filtered.relation), filtered.publication.name
        yield _finding(
            context,
            "PUB608",
            filtered,
            f'the row filter of publication "{publication}" is true for every row of {table}',
            "publish the table without a filter: it costs the walsender time for each change and leaves nothing out",
        )


@finds("PUB609")
def implied_by_another(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters of publications that one subscription takes together, whose rows another one's filter has too."""
    by_table: dict[int, list[Filtered]] = {}
    for filtered in once_a_place(context):
        if analysed(filtered) is not None and context.is_subscribed(filtered.publication.oid):
            by_table.setdefault(filtered.relation.oid, []).append(filtered)
    for members in by_table.values():
        members = members[:_COMPARED]
        for first, filtered in enumerate(members):
            for other in members[first + 1 :]:
                yield from _implied(context, filtered, other)


def _implied(context: RuleContext, first: Filtered, second: Filtered) -> Iterator[RuleFinding]:
    """Compare the filters of two publications of a table."""
    subscription = context.subscription_to(first.publication.oid, second.publication.oid)
    if subscription is None or first.publication.oid == second.publication.oid:
        return
    expressions = [expr for expr in map(analysed, (first, second)) if expr is not None]
    kind = TableFilters(context.session, first.relation, expressions, examples=False).comparison(0, 1).kind
    if kind not in ("narrower", "wider", "equivalent"):
        return
    narrow, wide = (second, first) if kind == "wider" else (first, second)
    if any(getattr(narrow.publication, name) and not getattr(wide.publication, name) for name in _OF_ROWS):
        return
    table = context.name(narrow.relation)
    message = f'every row of {table} that the row filter of "{narrow.publication.name}" publishes, '
    if kind == "equivalent":
        message += f'that of "{wide.publication.name}" publishes too, and the reverse'
    else:
        message += f'that of "{wide.publication.name}" publishes too'
    yield _finding(
        context,
        "PUB609",
        narrow,
        f'{message}: subscription "{subscription.name}" takes both',
        f"drop the table from {narrow.publication.name}, or correct one of the filters",
        related=((wide.place, "the filter that has its rows"), (subscription.place, "takes both")),
        certain=narrow.certain and wide.certain and subscription.seen,
        other=wide,
        mentions=(wide.publication.name, subscription.name),
    )


def _coverages(context: RuleContext) -> Iterator[tuple[Filtered, Coverage]]:
    for filtered in once_a_place(context):
        expr = analysed(filtered)
        if expr is not None and not _is_null(expr):
            yield filtered, TableFilters(context.session, filtered.relation, [expr], examples=False).coverage(0)


def _is_frozen(filtered: Filtered) -> bool:
    """Return whether a filter has a literal whose value depended on the session that read it."""
    return filtered.entry.filter is not None and bool(filtered.entry.filter.frozen)


def _is_null(expr: Expr) -> bool:
    """Return whether a filter is the constant NULL, which PUB603 reports."""
    return expr.node == "Const" and expr.null


def _finding(
    context: RuleContext,
    rule: str,
    filtered: Filtered,
    message: str,
    advice: str,
    *,
    related: tuple[tuple[Place, str], ...] = (),
    certain: bool | None = None,
    other: Filtered | None = None,
    mentions: tuple[str, ...] = (),
) -> RuleFinding:
    condition = filtered.entry.filter
    frozen = _is_frozen(filtered) or (other is not None and _is_frozen(other))
    return RuleFinding(
        rule=rule,
        message=message,
        help=advice,
        place=condition.places[0][1] if condition is not None and condition.places else filtered.place,
        certain=(filtered.certain if certain is None else certain) and not frozen,
        assumptions=(_SESSION,) if frozen else (),
        related=related,
        object=context.session.qualified(filtered.relation),
        publications=(filtered.publication.name,),
        mentions=mentions,
    )
