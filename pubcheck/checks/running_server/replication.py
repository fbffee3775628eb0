"""What a running server replicates: its slots, its subscriptions, and limits that leave no room for a subscriber."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.checks.context import RuleContext, RuleFinding, listed, quoted
from pubcheck.checks.running_server import about, finds_on_server, times
from pubcheck.live.server_facts import Reader, ServerFacts, Slot, SubscriptionState
from pubcheck.postgres.tokens import identifier
from pubcheck.words import size_text

# Logical slots that lose or hold WAL, and what their readers ask for (slot.c, slotfuncs.c).

NEARLY_LOST = 1 / 4
"""The share of max_slot_wal_keep_size that a slot in danger has left. At the rate at which the server has written WAL
so far it is used up in a third of the time for which the slot has been behind."""


@finds_on_server("PUB862")
def lost(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Slots that were invalidated: their readers cannot continue."""
    for slot in facts.slots:
        if slot.lost:
            reason = f" ({slot.invalidation_reason})" if slot.invalidation_reason else ""
            yield about(
                context,
                "PUB862",
                f"slot {slot.name}",
                f'slot "{slot.name}" is lost{reason}: the server refuses to read from it, and nothing brings it back',
                "drop the slot and create the subscription again, with a new copy of its tables",
            )


def _nearly_lost(facts: ServerFacts, slot: Slot) -> bool:
    limit = facts.settings.max_slot_wal_keep_size
    if slot.wal_status == "unreserved":
        return True
    return not slot.lost and limit is not None and slot.safe is not None and slot.safe < limit * NEARLY_LOST


@finds_on_server("PUB863")
def nearly_lost(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Slots that are lost as soon as the server writes a little more WAL."""
    for slot in facts.slots:
        if _nearly_lost(facts, slot):
            when = (
                "at the next checkpoint"
                if slot.wal_status == "unreserved"
                else f"after {size_text(slot.safe or 0)} more of WAL"
            )
            yield about(
                context,
                "PUB863",
                f"slot {slot.name}",
                f'slot "{slot.name}" is lost {when} unless its reader catches up: it is '
                f"{size_text(slot.held or 0)} behind",
                "start its reader or remove what holds it up; until then raise max_slot_wal_keep_size and reload",
            )


@finds_on_server("PUB864")
def inactive(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Slots without a reader: their WAL is kept, and dead rows of the system catalogs."""
    limit = facts.settings.max_slot_wal_keep_size
    for slot in facts.slots:
        if slot.active or slot.held is None or slot.lost or _nearly_lost(facts, slot):
            continue
        since = f" since {slot.inactive_since}" if slot.inactive_since else ""
        until = "until the disk is full" if limit is None else f"until it is lost at {size_text(limit)}"
        yield about(
            context,
            "PUB864",
            f"slot {slot.name}",
            f'slot "{slot.name}" has had no reader{since}: the server keeps {size_text(slot.held)} of WAL for it, and '
            f"all that follows {until}",
            f"start its reader; if there is none any more, SELECT pg_drop_replication_slot('{slot.name}')",
            severity="warning" if slot.wal_status == "extended" else None,
        )


@finds_on_server("PUB865")
def unlimited(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Nothing limits the WAL that slots hold."""
    if facts.settings.max_slot_wal_keep_size is None and facts.slots:
        yield about(
            context,
            "PUB865",
            "setting max_slot_wal_keep_size",
            "max_slot_wal_keep_size is -1: a slot that nobody reads holds WAL until the disk is full",
            "set a limit that leaves room on the disk, and reload: a slot that reaches it is lost, the server goes on",
        )


@finds_on_server("PUB866")
def without_reader(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Publications that no slot of the database reads, as far as it is known what its slots read."""
    slots = [slot for slot in facts.slots if slot.may_read_publications]
    readers = [slot.reader for slot in slots if slot.reader is not None]
    if len(readers) < len(slots):
        return
    on_standbys = context.catalog.major.slots_on_standbys
    asked_for = {name for reader in readers for name in reader.publications}
    for publication in context.catalog.publications.values():
        name = publication.name
        if name in asked_for or not context.is_listed(publication.place):
            continue
        reason = (
            f"the readers of {listed(quoted(slot.name for slot in slots), 'slot')} ask for other publications"
            if slots
            else "this database has no slot that reads publications"
        )
        yield about(
            context,
            "PUB866",
            f"publication {name}",
            f'publication "{name}" has no subscriber: {reason}',
            f"create the subscription; if there is none any more, DROP PUBLICATION {identifier(name)}",
            certain=not on_standbys and all(reader.subscription is None for reader in readers),
            publications=(name,),
            assumptions=("whether a standby of this server has a slot that reads it",) if on_standbys else (),
        )


@finds_on_server("PUB867")
def misses_publication(context: RuleContext, facts: ServerFacts) -> Iterator[RuleFinding]:
    """Slots whose changes are decoded at a time at which a publication of their reader did not exist."""
    names = context.catalog.publication_names
    for slot in facts.slots:
        if slot.lost or not slot.may_read_publications:
            continue
        asked_for = slot.reader.publications if slot.reader is not None else ()
        if missing := [name for name in asked_for if name not in names]:
            yield _missing(context, slot, slot.reader, missing)
        candidates = [name for name in asked_for if name in names] if slot.reader is not None else list(names)
        younger = [name for name in candidates if not slot.active and _is_younger(facts, slot, name)]
        if younger:
            yield _older(context, slot, younger)


def _is_younger(facts: ServerFacts, slot: Slot, publication: str) -> bool:
    """Return whether a publication is not older than the catalogs that the slot still needs.

    A reader advances these only from time to time, so an active slot may have passed such a publication."""
    age = facts.publication_ages.get(publication)
    return age is not None and slot.catalog_age is not None and age <= slot.catalog_age


def _effect(context: RuleContext) -> str:
    """The consequence of a publication that is missing when a change is decoded (LoadPublications)."""
    if context.catalog.major.skips_missing_publications:
        return "changes that nothing else publishes are skipped, with a WARNING in the log"
    return "decoding stops with an error, again and again (42704)"


def _missing(context: RuleContext, slot: Slot, reader: Reader | None, missing: Sequence[str]) -> RuleFinding:
    by_subscription = reader is not None and reader.subscription is not None
    who = f'subscription "{reader.subscription}"' if by_subscription and reader else "its reader"
    skips = context.catalog.major.skips_missing_publications
    return about(
        context,
        "PUB867",
        f"slot {slot.name}",
        f'slot "{slot.name}": {who} asks for {listed(quoted(missing), "publication")}, which does not exist: '
        f"{_effect(context)}",
        "create the publication for the changes that follow; the changes before it can only be skipped"
        if skips
        else "create the publication, drop the slot and create the subscription again: the changes before it cannot be "
        "decoded",
        certain=not by_subscription,
        severity="warning" if skips else "error",
        publications=tuple(missing),
    )


def _older(context: RuleContext, slot: Slot, younger: Sequence[str]) -> RuleFinding:
    known = slot.reader is not None
    behind = size_text(slot.unconfirmed or 0)
    return about(
        context,
        "PUB867",
        f"slot {slot.name}",
        f'slot "{slot.name}" may be older than {listed(quoted(younger), "publication")}'
        f"{'' if known else ', if its reader asks for it'}: for the changes before its creation, among the {behind} "
        f"that the reader has not confirmed, {_effect(context)}",
        "if decoding stops there, drop the slot and create the subscription again",
        certain=False,
        severity="warning" if known else "note",
        publications=tuple(younger),
        assumptions=(
            "whether the publication is older than the slot",
            *(() if known else ("which publications the reader of the slot asks for",)),
        ),
    )


# Subscriptions of the database: whether they run, and which of their tables are not synchronized (worker.c).


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


# Settings of a server that leave no room for a subscriber (postmaster parameters: only a restart changes them).


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
