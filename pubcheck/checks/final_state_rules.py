"""Findings about the time after CREATE PUBLICATION: one function a rule, run once over a unit's final state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pubcheck.checks.context import RuleContext, RuleFinding
from pubcheck.checks.history import (
    cascades,
    dropped_identity_index,
    migration_tool_tables,
    published_names,
    recreated,
    unpublished,
)
from pubcheck.checks.silent import filters, overlapping_publications, partitions, publication_scope
from pubcheck.checks.subscribe import subscriptions
from pubcheck.faults import Faults

Check = Callable[[RuleContext], Iterator[RuleFinding]]

CHECKS: dict[str, Check] = {
    "PUB504": partitions.unused,
    "PUB505": partitions.row_moves,
    "PUB506": partitions.unpublishable,
    "PUB812": partitions.copied_twice,
    "PUB507": partitions.new_children,
    "PUB508": overlapping_publications.add_columns_to_list,
    "PUB509": subscriptions.column_lists_conflict,
    "PUB510": subscriptions.generated_columns_conflict,
    "PUB601": filters.update_transformed,
    "PUB602": filters.toast_lost,
    "PUB603": filters.null_never_matches,
    "PUB604": filters.truncate_ignores_filter,
    "PUB605": subscriptions.filter_can_fail,
    "PUB705": unpublished.no_longer_published,
    "PUB712": published_names.names_changed,
    "PUB706": unpublished.cascade_unpublishes,
    "PUB707": unpublished.columns_outside_lists,
    "PUB708": unpublished.partitions_moved,
    "PUB709": unpublished.set_drops_members,
    "PUB710": recreated.recreated,
    "PUB711": dropped_identity_index.index_gone,
    "PUB306": cascades.cascades,
    "PUB801": publication_scope.initial_copy,
    "PUB802": publication_scope.publishes_nothing,
    "PUB803": publication_scope.updates_without_inserts,
    "PUB804": publication_scope.empty,
    "PUB805": publication_scope.information_schema,
    "PUB806": publication_scope.left_out,
    "PUB807": publication_scope.not_replicated,
    "PUB808": publication_scope.generated_columns,
    "PUB809": publication_scope.identity_full,
    "PUB810": subscriptions.publication_missing,
    "PUB811": subscriptions.publication_missing_for_changes,
    "PUB813": migration_tool_tables.tables_to_come,
}
"""By the code of the rule."""


def run_final_state_rules(context: RuleContext, wanted: frozenset[str], faults: Faults) -> Iterator[RuleFinding]:
    """What the rules of these codes find, rule by rule."""
    for code, check in CHECKS.items():
        if code in wanted:
            yield from _found(check, context, faults)


_ATTEMPTS = 20
"""Publications and members at which a rule may fail before it is given up for the unit."""


def _found(check: Check, context: RuleContext, faults: Faults) -> list[RuleFinding]:
    """What a rule finds. Where it fails at a publication or a member of one, it runs again without that."""
    found: list[RuleFinding] = []
    context.left_out.clear()
    while len(context.left_out) < _ATTEMPTS:
        found.clear()
        context.at = None
        try:
            found.extend(check(context))
        except Exception as error:
            at = context.looking_at()
            faults.report(error, at.place if at is not None else None)
            if at is not None:
                context.left_out.add(id(at))
                continue
        break
    return found
