"""Findings about the time after CREATE PUBLICATION: one function a rule, run once over a unit's final state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pubcheck.checks import subscribe
from pubcheck.checks.chain import cascades, identities, losses, names, recreated, tools
from pubcheck.checks.findings import Finding, Ground
from pubcheck.checks.silent import filters, operation, partitions, several
from pubcheck.faults import Faults
from pubcheck.rulebook import by_name

Check = Callable[[Ground], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "partition-filter-unused": partitions.unused,
    "partition-row-move": partitions.row_moves,
    "unpublishable-partition": partitions.unpublishable,
    "rows-copied-twice": partitions.copied_twice,
    "new-child-not-published": partitions.new_children,
    "filter-widened": several.widened,
    "column-lists-conflict": subscribe.column_lists_conflict,
    "generated-columns-conflict": subscribe.generated_columns_conflict,
    "update-becomes-insert-or-delete": filters.update_transformed,
    "toast-lost": filters.toast_lost,
    "null-never-matches": filters.null_never_matches,
    "truncate-ignores-filter": filters.truncate_ignores_filter,
    "filter-can-fail": subscribe.filter_can_fail,
    "no-longer-published": losses.no_longer_published,
    "published-name-changed": names.names_changed,
    "cascade-unpublishes": losses.cascade_unpublishes,
    "added-column-not-published": losses.columns_beside_lists,
    "partition-attached-or-detached": losses.partitions_moved,
    "set-drops-members": losses.set_drops_members,
    "publication-made-anew": recreated.recreated,
    "identity-index-dropped": identities.index_gone,
    "cascade-into-refused-table": cascades.cascades,
    "initial-copy-ignores-publish": operation.initial_copy,
    "publishes-nothing": operation.publishes_nothing,
    "updates-without-inserts": operation.updates_without_inserts,
    "empty-publication": operation.empty,
    "information-schema-not-published": operation.information_schema,
    "tables-left-out": operation.left_out,
    "not-replicated": operation.not_replicated,
    "generated-columns-not-sent": operation.generated_columns,
    "identity-full-cost": operation.identity_full,
    "subscribed-publication-missing": subscribe.publication_missing,
    "publication-missing-for-changes": subscribe.publication_missing_for_changes,
    "migration-table-without-key": tools.tables_to_come,
}
"""By the name of the rule's page."""


def afterwards(ground: Ground, wanted: frozenset[str], faults: Faults) -> Iterator[Finding]:
    """What the rules of these codes find, rule by rule."""
    for name, check in CHECKS.items():
        if by_name(name).code in wanted:
            yield from _found(check, ground, faults)


_ATTEMPTS = 20
"""Publications and members at which a rule may fail before it is given up for the unit."""


def _found(check: Check, ground: Ground, faults: Faults) -> list[Finding]:
    """What a rule finds. Where it fails at a publication or a member of one, it runs again without that."""
    found: list[Finding] = []
    ground.left_out.clear()
    while len(ground.left_out) < _ATTEMPTS:
        found.clear()
        ground.at = None
        try:
            found.extend(check(ground))
        except Exception as error:
            at = ground.looking_at()
            faults.report(error, at.place if at is not None else None)
            if at is not None:
                ground.left_out.add(id(at))
                continue
        break
    return found
