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
from pubcheck.rulebook import by_name

Check = Callable[[RuleContext], Iterator[RuleFinding]]

CHECKS: dict[str, Check] = {
    "partition-filter-unused": partitions.unused,
    "partition-row-move": partitions.row_moves,
    "unpublishable-partition": partitions.unpublishable,
    "rows-copied-twice": partitions.copied_twice,
    "new-child-not-published": partitions.new_children,
    "filter-widened": overlapping_publications.add_columns_to_list,
    "column-lists-conflict": subscriptions.column_lists_conflict,
    "generated-columns-conflict": subscriptions.generated_columns_conflict,
    "update-becomes-insert-or-delete": filters.update_transformed,
    "toast-lost": filters.toast_lost,
    "null-never-matches": filters.null_never_matches,
    "truncate-ignores-filter": filters.truncate_ignores_filter,
    "filter-can-fail": subscriptions.filter_can_fail,
    "no-longer-published": unpublished.no_longer_published,
    "published-name-changed": published_names.names_changed,
    "cascade-unpublishes": unpublished.cascade_unpublishes,
    "added-column-not-published": unpublished.columns_outside_lists,
    "partition-attached-or-detached": unpublished.partitions_moved,
    "set-drops-members": unpublished.set_drops_members,
    "publication-made-anew": recreated.recreated,
    "identity-index-dropped": dropped_identity_index.index_gone,
    "cascade-into-refused-table": cascades.cascades,
    "initial-copy-ignores-publish": publication_scope.initial_copy,
    "publishes-nothing": publication_scope.publishes_nothing,
    "updates-without-inserts": publication_scope.updates_without_inserts,
    "empty-publication": publication_scope.empty,
    "information-schema-not-published": publication_scope.information_schema,
    "tables-left-out": publication_scope.left_out,
    "not-replicated": publication_scope.not_replicated,
    "generated-columns-not-sent": publication_scope.generated_columns,
    "identity-full-cost": publication_scope.identity_full,
    "subscribed-publication-missing": subscriptions.publication_missing,
    "publication-missing-for-changes": subscriptions.publication_missing_for_changes,
    "migration-table-without-key": migration_tool_tables.tables_to_come,
}
"""By the name of the rule's page."""


def run_final_state_rules(context: RuleContext, wanted: frozenset[str], faults: Faults) -> Iterator[RuleFinding]:
    """What the rules of these codes find, rule by rule."""
    for name, check in CHECKS.items():
        if by_name(name).code in wanted:
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
