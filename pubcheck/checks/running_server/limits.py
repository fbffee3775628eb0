"""Settings of a server that leave no room for a subscriber (postmaster parameters: only a restart changes them)."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, listed, quoted
from pubcheck.checks.running_server.report import about, finds_on_server
from pubcheck.live.server_facts import ServerFacts


@finds_on_server("PUB860")
def wal_level(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """The WAL has too little in it to decode changes (CheckLogicalDecodingRequirements)."""
    level = facts.settings.wal_level
    enough = ("logical", "replica") if context.catalog.major.replica_level_decodes else ("logical",)
    publications = [row.name for row in context.catalog.publications.values()]
    if level not in enough and publications:
        yield about(
            context,
            "PUB860",
            "setting wal_level",
            f"wal_level is {level}: the server refuses every logical slot, and nobody can subscribe to "
            f"{listed(quoted(publications), 'publication')}",
            f"set wal_level = {enough[-1]} and restart the server",
            publications=tuple(publications),
        )


@finds_on_server("PUB861")
def used_up(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """No slot, walsender or worker is left for one more subscription."""
    settings, usage = facts.settings, facts.usage
    waiting = usage.waiting_subscriptions
    limits = (
        (
            "max_replication_slots",
            usage.slots >= settings.max_replication_slots and bool(context.catalog.publications),
            f"{_all(settings.max_replication_slots, 'replication slot')} in use: CREATE SUBSCRIPTION is refused, and "
            "so is the slot that the initial copy of each table needs",
            "drop slots that nobody reads, or raise max_replication_slots and restart the server",
        ),
        (
            "max_wal_senders",
            usage.wal_senders >= settings.max_wal_senders and bool(context.catalog.publications),
            f"{_all(settings.max_wal_senders, 'walsender')} in use: a subscriber or a standby that connects is "
            "refused, also after an interruption",
            "raise max_wal_senders and restart the server: one for each subscription, each table that is copied at the "
            "same time, and each standby",
        ),
        (
            "max_logical_replication_workers",
            usage.subscription_workers >= settings.max_logical_replication_workers and bool(waiting),
            f"{_all(settings.max_logical_replication_workers, 'logical replication worker')} in use: "
            f"{listed(quoted(waiting), 'subscription')} cannot start",
            "raise max_logical_replication_workers, and max_worker_processes with it, and restart the server",
        ),
    )
    for setting, full, message, help in limits:
        if full:
            yield about(context, "PUB861", f"setting {setting}", message, help)


def _all(limit: int, noun: str) -> str:
    return f"the only {noun} is" if limit == 1 else f"all {limit} {noun}s are"
