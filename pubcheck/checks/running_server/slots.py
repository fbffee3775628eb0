"""Logical slots that lose or hold WAL, and what their readers ask for (slot.c, slotfuncs.c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.checks.context import RuleContext, RuleFinding, listed, quoted
from pubcheck.checks.running_server.report import about, finds_on_server
from pubcheck.live.server_facts import Reader, ServerFacts, Slot
from pubcheck.postgres.identifiers import identifier
from pubcheck.words import size_text

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
