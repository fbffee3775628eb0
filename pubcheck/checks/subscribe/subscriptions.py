"""Failures of a subscription: its publications conflict or are missing, one leaves a table out that another publishes
(EXCEPT, 19), or a column has no binary format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from pubcheck.checks.context import (
    COMPARED,
    NOT_ELSEWHERE,
    ONE_SUBSCRIPTION,
    RELATED,
    RuleContext,
    RuleFinding,
    finds,
    first_places,
    listed,
    order,
    quoted,
)
from pubcheck.checks.publication_history import PublicationEvent
from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.catalog.rows import (
    Place,
    Publication,
    PublicationExclusion,
    PublicationRel,
    Relation,
    Subscription,
)
from pubcheck.postgres.replication.publication_lookup import (
    effective_entry,
    is_publishable,
    publications_of,
    published_by,
    route,
    sent_columns,
)
from pubcheck.postgres.replication.subscription_set import Conflict, combine, subscribe_conflicts
from pubcheck.postgres.tokens import identifier


@finds("PUB509")
def column_lists_conflict(context: RuleContext) -> Iterator[RuleFinding]:
    """Different column lists for one table in publications that are, or may be, subscribed to together."""
    yield from _of_subscriptions(context, "PUB509")
    catalog = context.catalog
    seen: set[tuple[int, int, int]] = set()
    by_columns: dict[int, dict[tuple[int, ...], list[int]]] = {}
    groups: dict[int, tuple[dict[int, PublicationRel], dict[int, None]]] = {}
    for entry in context.visit(reversed(context.entries)):
        if entry.columns is None or context.is_subscribed(entry.publication):
            continue
        publication, relation = entry.publication, catalog.relations[entry.relation]
        if relation.oid not in by_columns:
            by_columns[relation.oid] = _by_columns(context, relation)
        sent = _columns(context, catalog.publications[publication], relation)
        lists = by_columns[relation.oid]
        elsewhere = (oid for columns, held in lists.items() if columns != sent and sent is not None for oid in held)
        for other_publication in islice(elsewhere, COMPARED):
            pair = (min(publication, other_publication), max(publication, other_publication), relation.oid)
            if pair not in seen:
                seen.add(pair)
                entries, with_ = groups.setdefault(publication, ({}, {}))
                entries[entry.oid] = entry
                with_[other_publication] = None
    for publication, (entries, with_) in groups.items():
        members = list(reversed(entries.values()))
        relation = catalog.relations[members[0].relation]
        name = f"{catalog.namespaces[relation.namespace].name}.{relation.name}"
        yield _conflict(
            context,
            "PUB509",
            ServerAnswer("0A000", f'cannot use different column lists for table "{name}" in different publications'),
            [catalog.relations[entry.relation] for entry in members],
            [catalog.publications[oid] for oid in (publication, *with_)],
            members[0].place,
            None,
        )


def _by_columns(context: RuleContext, relation: Relation) -> dict[tuple[int, ...], list[int]]:
    """The publications that send a relation under its own name, by the columns that they send."""
    by_publications: dict[tuple[int, ...], list[int]] = {}
    for publication in publications_of(context.catalog, relation):
        columns = _columns(context, publication, relation)
        if columns is not None and not context.is_subscribed(publication.oid):
            by_publications.setdefault(columns, []).append(publication.oid)
    return by_publications


def _columns(context: RuleContext, publication: Publication, relation: Relation) -> tuple[int, ...] | None:
    """The columns that a publication sends under a relation's own name; None where it sends none under it."""
    if not is_publishable(relation) or (relation.kind == "p" and not publication.via_root):
        return None
    arrives = route(context.catalog, publication, relation)
    if arrives is None or arrives.arrives_as != relation.oid:
        return None
    entry = effective_entry(context.catalog, publication, relation.oid)
    return sent_columns(relation, None if entry is None else entry.columns, publication.generated == "s")


@finds("PUB510")
def generated_columns_conflict(context: RuleContext) -> Iterator[RuleFinding]:
    """18: different publish_generated_columns for a table that has generated columns."""
    catalog = context.catalog
    if not catalog.major.publish_generated_columns:
        return
    if len({publication.generated for publication in catalog.publications.values()}) < 2:
        return
    yield from _of_subscriptions(context, "PUB510")
    groups: dict[tuple[int, ...], list[Relation]] = {}
    for relation in context.visit(catalog.relations.values()):
        if not is_publishable(relation) or not any(column.generated for column in relation.live()):
            continue
        bare: list[Publication] = []
        for publication in publications_of(catalog, relation):
            entry = effective_entry(catalog, publication, relation.oid)
            if _columns(context, publication, relation) is not None and (entry is None or entry.columns is None):
                bare.append(publication)
        for differing in bare[1:]:
            if differing.generated != bare[0].generated and not context.is_subscribed(bare[0].oid, differing.oid):
                groups.setdefault((bare[0].oid, differing.oid), []).append(relation)
    for pair, relations in groups.items():
        publications = [catalog.publications[oid] for oid in pair]
        last = max(publications, key=lambda row: order(row.place) if row.place is not None else (-1, 0, 0))
        place = context.place_of(last)
        if place is not None:
            first = relations[0]
            name = f"{catalog.namespaces[first.namespace].name}.{first.name}"
            answer = ServerAnswer(
                "0A000",
                "cannot use different values of publish_generated_columns "
                f'for table "{name}" in different publications',
            )
            yield _conflict(context, "PUB510", answer, relations, publications, place, None)


_RULE_OF = {
    "lists-refused": "PUB509",
    "lists-in-decoding": "PUB509",
    "generated-columns-in-decoding": "PUB510",
}


def _of_subscriptions(context: RuleContext, rule: str) -> Iterator[RuleFinding]:
    """The conflicts of the unit's own subscriptions: what CREATE SUBSCRIPTION refuses, then what decoding refuses."""
    catalog = context.catalog
    for subscription, named in context.subscription_publications:
        if len(named) < 2:
            continue
        requested = context.publications_of_subscription(subscription)
        conflicts: dict[int, Conflict] = {}
        for conflict in (*subscribe_conflicts(catalog, requested), *_when_decoding(context, requested)):
            if _kind(context, conflict) == rule:
                conflicts.setdefault(conflict.relation, conflict)
        if conflicts:
            first = next(iter(conflicts.values()))
            publications = [catalog.publications[oid] for oid in first.publications]
            relations = [catalog.relations[oid] for oid in conflicts]
            place = _culprit(context, publications, relations[0])
            if place is not None:
                yield _conflict(context, rule, first.server, relations, publications, place, subscription)


def _kind(context: RuleContext, conflict: Conflict) -> str:
    """Return the rule of a conflict. If no publication has a column list, the published generated columns differ."""
    relation = context.catalog.relations[conflict.relation]
    entries = (
        effective_entry(context.catalog, context.catalog.publications[oid], relation.oid)
        for oid in conflict.publications
    )
    if any(entry is not None and entry.columns is not None for entry in entries):
        return _RULE_OF[conflict.kind]
    return "PUB510"


def _when_decoding(context: RuleContext, publications: list[int]) -> Iterator[Conflict]:
    seen: set[int] = set()
    for publication in publications:
        for sent in published_by(context.catalog, publication):
            if sent.relation not in seen:
                seen.add(sent.relation)
                combined = combine(context.catalog, publications, sent.relation)
                if combined is not None and combined.conflict is not None:
                    yield combined.conflict


def _culprit(context: RuleContext, publications: Iterable[Publication], relation: Relation) -> Place | None:
    """The membership with a list that was named last, else the publication made last."""
    catalog = context.catalog
    entries = [catalog.members.get((publication.oid, relation.oid)) for publication in publications]
    rows = [catalog.publication_rels[oid] for oid in entries if oid is not None]
    places = [row.place for row in rows if row.columns is not None] or [
        place for publication in publications if (place := context.place_of(publication)) is not None
    ]
    return max(places, key=order, default=None)


def _conflict(
    context: RuleContext,
    rule: str,
    answer: ServerAnswer,
    relations: list[Relation],
    publications: list[Publication],
    place: Place,
    subscription: Subscription | None,
) -> RuleFinding:
    names = [row.name for row in publications]
    tables = listed((context.name(row) for row in relations), "table")
    difference = "different column lists" if rule == "PUB509" else "different publish_generated_columns"
    if subscription is None and len(names) > 2:
        message = f'publication "{names[0]}" cannot be combined with {listed(quoted(names[1:]))} in one '
        message += f"subscription: they have {difference} for {tables}"
    elif subscription is None:
        message = (
            f"publications {listed(quoted(names))} cannot be combined in one subscription: they have {difference} for "
        )
        message += tables
    else:
        message = (
            f'subscription "{subscription.name}" cannot take publications {listed(quoted(names))} together: they have '
            f"{difference} for {tables}"
        )
    related: list[tuple[Place, str]] = []
    if subscription is not None:
        related.append((subscription.place, "takes both"))
    for row in publications[: RELATED + 1]:
        member = context.catalog.members.get((row.oid, relations[0].oid))
        where = context.catalog.publication_rels[member].place if member is not None else context.place_of(row)
        if where is not None and where != place:
            related.append((where, f'publication "{row.name}"'))
    seen = all(row.seen for row in publications) and all(row.seen for row in relations)
    advice = "give the table the same column list in all of them, or create a subscription for each"
    if rule == "PUB510":
        advice = "set publish_generated_columns to the same value, or give the table a column list in both"
    return RuleFinding(
        rule=rule,
        message=message,
        help=advice,
        place=place,
        certain=subscription is not None and seen,
        assumptions=() if subscription is not None else (ONE_SUBSCRIPTION,),
        related=first_places(related),
        object=context.session.qualified(relations[0]),
        also=context.qualified(relations)[1:],
        publications=tuple(names),
        mentions=(subscription.name,) if subscription is not None else (),
        severity="error" if subscription is not None else "note",
        server=answer,
    )


# Publications that are not there.


def _missing(name: str) -> ServerAnswer:
    return ServerAnswer("42704", f'publication "{name}" does not exist')


@finds("PUB810")
def publication_missing(context: RuleContext) -> Iterator[RuleFinding]:
    """A subscription of the unit to a publication that the unit, which makes others, does not have."""
    catalog, session = context.catalog, context.session
    closed = session.complete and not session.blind
    stops = not catalog.major.skips_missing_publications
    for subscription in context.visit(catalog.subscriptions.values()):
        former_names = {event.name for event in context.history.publication_events if _after(event, subscription)}
        missing = [
            (name, place)
            for name, place in subscription.publications
            if name not in catalog.publication_names and name not in former_names
        ]
        known = len(missing) < len(subscription.publications)
        dropped = [(name, place) for name, place in missing if name in context.history.gone_publications]
        certain = bool(dropped) or closed
        if dropped and not known and not closed:
            missing = dropped
        if not missing or not (known or certain):
            continue
        if context.is_listed(subscription.place) and not known and not dropped:
            continue  # a database with a subscription to another server
        names = [name for name, _ in missing]
        is_are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        plural = len(names) > 1
        notice = (
            f"publications {', '.join(quoted(names))} do not exist on the publisher"
            if plural
            else f'publication "{names[0]}" does not exist on the publisher'
        )
        gone = [(context.history.gone_publications[name], "is removed here") for name, _ in dropped]
        yield RuleFinding(
            rule="PUB810",
            message=f"{listed(quoted(names), 'publication')} {is_are} not created in these files: subscription "
            f'"{subscription.name}" gets a WARNING when it is created, and an error or no changes of {them} when it '
            "reads",
            help=f"create {them} on the publisher first, or drop {them} from the subscription",
            place=missing[0][1],
            certain=certain,
            assumptions=(NOT_ELSEWHERE,),
            related=first_places([*gone, *((place, "nor is this one") for _, place in missing[1:])]),
            publications=tuple(names),
            mentions=(subscription.name,),
            severity="warning" if certain else "note",
            notices=(notice,) if certain else (),
            server=_missing(names[0]) if certain and stops else None,
        )


def _after(event: PublicationEvent, subscription: Subscription) -> bool:
    """Return whether something happened to a publication when the subscription was there: that is another rule's."""
    return order(event.place) > order(subscription.place)


@finds("PUB811")
def publication_missing_for_changes(context: RuleContext) -> Iterator[RuleFinding]:
    """Publications renamed, dropped or recreated while subscribers read: changes around it are lost."""
    subscribed = {name: row for row in context.catalog.subscriptions.values() for name, _ in row.publications}
    stops = not context.catalog.major.skips_missing_publications
    for event in context.history.publication_events:
        subscription = subscribed.get(event.name)
        since = subscription.place if subscription is not None else None
        if since is not None and order(event.place) < order(since):
            continue
        current = context.catalog.publication_names.get(event.name)
        if event.kind != "created" and current == event.oid:
            continue  # rolled back
        cause = {
            "renamed": f'publication "{event.name}" is renamed: ',
            "dropped": f'publication "{event.name}" is dropped: ',
            "created": f'publication "{event.name}" is created after the subscription to it: ',
        }[event.kind]
        if event.kind == "created" and subscription is None:
            continue
        if event.kind == "dropped" and current is not None:
            cause = f'publication "{event.name}" is dropped and recreated: '
        slot = context.slot_reading(event.name) if subscription is None else None
        subscriber = (
            f'subscription "{subscription.name}"'
            if subscription is not None
            else f'the reader of slot "{slot.name}"'
            if slot is not None
            else "a subscription to it"
        )
        read = subscription is not None or (slot is not None and slot.has_known_reader)
        effect = (
            f"{subscriber} stops at the first change from the time when it was missing, because decoding uses the "
            "catalog of that time"
            if stops
            else f"{subscriber} skips the changes from the time when it was missing, with only a WARNING"
        )
        yield RuleFinding(
            rule="PUB811",
            message=cause + effect,
            help=f"ALTER PUBLICATION {identifier(event.name)} instead of dropping it; for another name, let the "
            "subscription take both names (ALTER SUBSCRIPTION ... ADD PUBLICATION) before the old one goes",
            place=event.place,
            certain=read,
            assumptions=() if read else ("whether a subscription takes this publication",),
            related=() if since is None else ((since, "reads it"),),
            publications=(event.name,),
            mentions=(subscription.name,) if subscription is not None else (),
            severity="warning" if read or slot is not None else "note",
            server=_missing(event.name) if stops else None,
        )


_WITHOUT_SEND = {1034: "aclitem", 3644: "gtsvector"}
"""Built-in arrays of types without a send function. A value of such a type itself is sent as text."""


@finds("PUB815")
def without_binary_format(context: RuleContext) -> Iterator[RuleFinding]:
    """array_send asks for the send function of the elements."""
    catalog = context.catalog
    for subscription in context.visit(catalog.subscriptions.values()):
        if not subscription.binary:
            continue
        for oid in context.publications_of_subscription(subscription):
            publication = catalog.publications[oid]
            for sent in published_by(catalog, oid):
                relation = catalog.relations[sent.relation]
                columns = [relation.columns[number - 1] for number in sent.columns]
                bad = next((column for column in columns if column.type in _WITHOUT_SEND), None)
                if bad is None:
                    continue
                element = _WITHOUT_SEND[bad.type]
                places = [(relation.place, "the table")] if relation.place is not None else []
                yield RuleFinding(
                    rule="PUB815",
                    message=f'subscription "{subscription.name}" asks for binary values, and column "{bad.name}" of '
                    f"{context.name(relation)} has none: decoding stops at its first value",
                    help=f"ALTER SUBSCRIPTION {identifier(subscription.name)} SET (binary = false), or leave the "
                    "column out of the publication with a column list",
                    place=subscription.place,
                    certain=subscription.seen and publication.seen and relation.seen,
                    related=first_places(places),
                    object=context.session.qualified(relation),
                    publications=(publication.name,),
                    columns=(bad.name,),
                    mentions=(subscription.name,),
                    server=ServerAnswer("42883", f"no binary output function available for type {element}"),
                )


@finds("PUB512")
def exclusion_overridden(context: RuleContext) -> Iterator[RuleFinding]:
    """An exclusion counts for its own publication only."""
    catalog = context.catalog
    for exclusion in context.visit(list(catalog.publication_exclusions.values())):
        yield from _overridden(context, exclusion)


def _overridden(context: RuleContext, exclusion: PublicationExclusion) -> Iterator[RuleFinding]:
    catalog = context.catalog
    publication, relation = catalog.publications[exclusion.publication], catalog.relations[exclusion.relation]
    publishing = {
        row.oid: row
        for leaf in context.leaves(relation)
        if is_publishable(leaf)
        for row in publications_of(catalog, leaf)
        if row.oid != publication.oid
    }
    subscribed_with = context.subscribed_with(publication.oid)
    together = [row for row in publishing.values() if row.oid in subscribed_with]
    alone = not together and not context.is_subscribed(publication.oid)
    others = together or [row for row in publishing.values() if alone and not context.is_subscribed(row.oid)]
    if not others:
        return
    names = [row.name for row in others]
    verb = "publishes" if len(names) == 1 else "publish"
    yield RuleFinding(
        rule="PUB512",
        message=f'{context.name(relation)} reaches a subscriber of "{publication.name}" all the same if it also '
        f"subscribes to {listed(quoted(names))}, which {verb} it",
        help="EXCEPT counts for its own publication only: leave the table out of both, or subscribe to them separately",
        place=exclusion.place,
        certain=bool(together) and relation.seen and all(row.seen for row in (publication, *others)),
        assumptions=() if together else (ONE_SUBSCRIPTION,),
        object=context.session.qualified(relation),
        publications=(publication.name, *names),
        severity="warning" if together else "note",
    )
