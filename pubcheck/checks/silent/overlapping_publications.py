"""Several publications, or several ways into one: filters that do not filter, because another way has none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from pubcheck.checks.context import (
    COMPARED,
    ONE_SUBSCRIPTION,
    Filtered,
    RuleContext,
    RuleFinding,
    by_publication,
    finds,
    first_places,
    listed,
    quoted,
)
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import effective_entry, publications_of, route

_ROWS = ("insert", "update", "delete")


def schema_voids_filter(context: RuleContext) -> Iterator[RuleFinding]:
    """A filter on a table whose schema is in the same publication."""
    catalog = context.catalog
    groups: dict[int, list[PublicationRel]] = {}
    for entry in context.visit(context.entries):
        if entry.filter is not None and _schema_entry(context, entry) is not None:
            groups.setdefault(entry.publication, []).append(entry)
    for oid, entries in groups.items():
        publication, first = catalog.publications[oid], entries[0]
        relation = catalog.relations[first.relation]
        schema = catalog.namespaces[relation.namespace]
        where = _schema_entry(context, first)
        names = listed([context.name(catalog.relations[entry.relation]) for entry in entries])
        yield RuleFinding(
            rule="PUB508",
            message=f'the row filter on {names} has no effect: publication "{publication.name}" publishes the schema '
            f"{schema.name} as well, and with it every row",
            help="name the tables of the schema one by one, or drop the filter",
            place=first.place,
            certain=publication.seen,
            related=first_places(
                [
                    *([(where, "publishes all rows")] if where is not None else []),
                    *((entry.place, "nor has this one") for entry in entries[1:]),
                ]
            ),
            object=context.session.qualified(relation),
            publications=(publication.name,),
            mentions=(schema.name,),
            also=context.qualified(catalog.relations[entry.relation] for entry in entries)[1:],
        )


def _schema_entry(context: RuleContext, entry: PublicationRel) -> Place | None:
    catalog = context.catalog
    namespace = catalog.relations[entry.relation].namespace
    member = catalog.schema_members.get((entry.publication, namespace))
    return None if member is None else catalog.publication_namespaces[member].place


class _Wider(Struct, frozen=True):
    """A filter, and the publication that sends its table without one."""

    filtered: Filtered
    publication: Publication


@finds("PUB508")
def add_columns_to_list(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters that another publication of the same subscription makes useless."""
    yield from schema_voids_filter(context)
    if len(context.catalog.publications) < 2:
        return
    unfiltered: dict[int, dict[int, Publication]] = {}
    for filtered in context.visit(context.filtered):
        if filtered.relation.oid not in unfiltered:
            unfiltered[filtered.relation.oid] = {row.oid: row for row in _unfiltered(context, filtered.relation)}
    for publication, filters in by_publication(context):
        subscribed_with = context.subscribed_with(publication.oid)
        named: list[_Wider] = []
        assumed: list[_Wider] = []
        for filtered in filters:
            wider = unfiltered[filtered.relation.oid]
            subscribed = (row for oid, row in wider.items() if oid in subscribed_with and oid != publication.oid)
            named += [_Wider(filtered, wider_one) for wider_one in islice(subscribed, COMPARED)]
            if not context.is_subscribed(publication.oid):
                unsubscribed = (wider_one for wider_one in wider.values() if not context.is_subscribed(wider_one.oid))
                assumed += [_Wider(filtered, wider_one) for wider_one in islice(unsubscribed, COMPARED)]
        for pairs, together in ((named, True), (assumed, False)):
            if pairs:
                yield _finding(context, publication, pairs, together=together)


def _unfiltered(context: RuleContext, relation: Relation) -> Iterator[Publication]:
    """The publications that send a relation under its own name without a filter."""
    catalog = context.catalog
    for publication in publications_of(catalog, relation):
        if relation.kind == "p" and not publication.via_root:
            continue
        arrives = route(catalog, publication, relation)
        if arrives is None or arrives.arrives_as != relation.oid:
            continue
        entry = effective_entry(catalog, publication, relation.oid)
        if entry is None or entry.filter is None or (publication.oid, relation.namespace) in catalog.schema_members:
            yield publication


def _reason(publication: Publication, wider: list[Publication]) -> str:
    """Return which operations other publications publish unfiltered: first those that this one publishes too."""
    groups: dict[tuple[bool, tuple[str, ...]], dict[str, None]] = {}
    for wider_publication in wider:
        unfiltered = tuple(name for name in _ROWS if getattr(wider_publication, name))
        shared = tuple(name for name in unfiltered if getattr(publication, name))
        groups.setdefault((bool(shared), shared or unfiltered), {})[wider_publication.name] = None
    parts = []
    for (_, actions), names in sorted(groups.items(), key=lambda group: (not group[0][0], -len(group[0][1]))):
        if actions:
            parts.append(
                f"{listed(quoted(names))} {'publishes' if len(names) == 1 else 'publish'} every {listed(actions)}"
            )
    # The copy is filtered only where all publications of the table filter it, whatever they publish.
    if not any(shared for shared, _ in groups):
        parts.append("the initial copy has every row")
    return ", and ".join(parts)


def _finding(context: RuleContext, publication: Publication, wider: list[_Wider], *, together: bool) -> RuleFinding:
    first = wider[0]
    wider_publication = first.publication
    tables = listed(context.name(pair.filtered.relation) for pair in wider)
    names = list(dict.fromkeys(pair.publication.name for pair in wider))
    subscription = context.subscription_to(publication.oid, wider_publication.oid)
    other_names = listed(quoted(names), "publication")
    subscriber = (
        f'subscription "{subscription.name}" takes' if subscription is not None else "a subscription that takes"
    )
    effect = f'the row filter of "{publication.name}" on {tables} has no effect'
    why = _reason(publication, [pair.publication for pair in wider])
    if together:
        message = f"{effect}: {subscriber} {other_names} as well, and {why}"
    else:
        message = f"{effect} for {subscriber} {other_names} as well: {why}"
    related: list[tuple[Place, str]] = []
    if subscription is not None:
        related.append((subscription.place, "takes both"))
    for pair in {item.publication.oid: item.publication for item in wider}.values():
        where = context.place_of(pair)
        if where is not None:
            related.append((where, f'publication "{pair.name}"'))
    return RuleFinding(
        rule="PUB508",
        message=message,
        help="give the table the same filter in both, or subscribe to them separately; filters of publications in "
        "one subscription are joined with OR",
        place=first.filtered.entry.place,
        certain=together and all(pair.filtered.certain and pair.publication.seen for pair in wider),
        assumptions=() if together else (ONE_SUBSCRIPTION,),
        related=first_places(related),
        object=context.session.qualified(first.filtered.relation),
        publications=(publication.name, *names),
        mentions=(subscription.name,) if subscription is not None else (),
        severity="warning" if together else "note",
        also=context.qualified(pair.filtered.relation for pair in wider)[1:],
    )
