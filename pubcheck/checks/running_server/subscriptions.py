"""Subscriptions of the database: whether they run, and which of their tables are not synchronized (worker.c)."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, listed
from pubcheck.checks.running_server.report import about, finds_on_server, times
from pubcheck.live.server_facts import ServerFacts, SubscriptionState
from pubcheck.postgres.identifiers import identifier


@finds_on_server("PUB870")
def disabled(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Subscriptions that apply nothing, while their slots hold WAL on the publisher."""
    for subscription in facts.subscriptions:
        if subscription.enabled:
            continue
        name = subscription.name
        by_error = subscription.disable_on_error and subscription.apply_errors + subscription.sync_errors
        reason = f", probably by an error ({_errors(subscription)})" if by_error else ""
        yield about(
            context,
            "PUB870",
            f"subscription {name}",
            f'subscription "{name}" is disabled{reason}: it receives nothing, and its slot holds WAL on the publisher',
            f"{'fix the error in the server log, then ' if by_error else ''}"
            f"ALTER SUBSCRIPTION {identifier(name)} ENABLE, or drop it",
        )


@finds_on_server("PUB871")
def failing(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Enabled subscriptions with errors, or without a worker."""
    for subscription in facts.subscriptions:
        failed = subscription.apply_errors + subscription.sync_errors
        if not subscription.enabled or (subscription.running and not failed):
            continue
        name = subscription.name
        running = "its worker runs now" if subscription.running else "it has no worker now"
        errors = f"has {_errors(subscription)}, and {running}" if failed else "is enabled, and has no worker now"
        yield about(
            context,
            "PUB871",
            f"subscription {name}",
            f'subscription "{name}" {errors}',
            "read its errors in the server log; once they are fixed, reset the counts: "
            f"SELECT pg_stat_reset_subscription_stats(oid) FROM pg_subscription WHERE subname = '{name}'"
            if failed
            else "read in the server log why its worker does not stay: often it cannot connect to the publisher",
            # A worker that was just started, or starts again after a lost connection, is missing for a moment only.
            certain=bool(failed),
            severity="note" if failed and subscription.running and not subscription.not_ready else None,
            assumptions=() if failed else ("whether the worker is missing for more than a moment",),
        )


@finds_on_server("PUB872")
def not_ready(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Tables whose initial copy has not ended: their changes are not applied yet."""
    for subscription in facts.subscriptions:
        if not subscription.not_ready:
            continue
        name = subscription.name
        works = subscription.running and not subscription.sync_errors
        tables = listed((row.table for row in subscription.not_ready), "table")
        yield about(
            context,
            "PUB872",
            f"subscription {name}",
            f'subscription "{name}" has not synchronized {tables}: {_reason(subscription)}',
            "wait for the copy to end before you rely on the tables"
            if works
            else "the tables may hold a part of the rows or none; fix the error in the server log and enable the "
            "subscription, which copies them",
            severity="note" if works else None,
        )


def _reason(subscription: SubscriptionState) -> str:
    """The reason why tables are not synchronized."""
    if not subscription.enabled:
        return "the subscription is disabled"
    if subscription.sync_errors:
        return _errors(subscription)
    return "the initial copy goes on" if subscription.running else "the subscription has no worker now"


def _errors(subscription: SubscriptionState) -> str:
    """The errors that the server counted, and since when."""
    counts = ((subscription.apply_errors, "apply"), (subscription.sync_errors, "synchronization"))
    texts = [times(number, f"{kind} error") for number, kind in counts if number]
    since = f" since {subscription.counted_since}" if subscription.counted_since else ""
    return f"{' and '.join(texts)}{since}"
