"""Row filters that fail for a subscription: on some row the copy and decoding stop."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places
from pubcheck.checks.silent.filters import analysed, once_a_place
from pubcheck.checks.write.filter_reach import evaluated_part
from pubcheck.checks.write.filter_runtime_errors import dangers
from pubcheck.postgres.catalog.rows import Place


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
        relation, publication, entry_place = filtered.relation, filtered.publication, filtered.entry.place
        place = (
            Place(entry_place.source, entry_place.statement, danger.location, 0)
            if danger.location >= 0
            else entry_place
        )
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
            (Place(entry_place.source, entry_place.statement, error.location, 0), f"fails {error.description}")
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
