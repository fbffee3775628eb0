"""Publications that are dropped or renamed, and others that take their names with less than they had."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import MENTIONED, RuleContext, RuleFinding, finds, first_places, listed, order
from pubcheck.checks.event_log import FormerPublication
from pubcheck.checks.misspelt_names import suggestions
from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog import RELATION
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, route
from pubcheck.postgres.tokens import identifier

_OPERATIONS = ("insert", "update", "delete", "truncate")


@finds("PUB710")
def recreated(context: RuleContext) -> Iterator[RuleFinding]:
    """Report a recreated publication that lacks members, filters, lists or options of the former one."""
    catalog = context.catalog
    unsent: dict[int, list[Relation]] = {}
    for former in context.visit(context.history.events.former):
        created, since = former.successor, former.since
        current = catalog.publication_names.get(former.row.name)
        if created is None or since is None or current is None or current == former.row.oid:
            continue
        if former.fate == "dropped" and former.row.oid in catalog.publications:
            continue  # that was rolled back
        if not context.in_order(since):
            continue
        publication = catalog.publications[current]
        if (former.row.all_tables or former.schemas) and current not in unsent:
            unsent[current] = _unsent(context, publication)
        lost, left = _lost_members(context, former, created, publication), _left_out(former, unsent.get(current, []))
        bared = _bared(context, former, created, publication)
        options = _options(former, created, publication)
        if lost or left or bared or options:
            yield _finding(context, former, publication, since, lost, left, bared, options)


def _lost_members(
    context: RuleContext, former: FormerPublication, created: Publication, final: Publication
) -> list[PublicationRel]:
    """The members of before that the new one never had, and that are not sent in the end."""
    catalog, began = context.catalog, context.history.events.began
    lost = []
    for entry in sorted(former.entries, key=lambda entry: order(entry.place)):
        relation = catalog.relations.get(entry.relation)
        if relation is None or (created.oid, entry.relation) in began or not is_publishable(relation):
            continue
        if route(catalog, final, relation) is None and not _misspelt(context, relation):
            lost.append(entry)
    return lost


def _misspelt(context: RuleContext, relation: Relation) -> bool:
    """Return whether a table that is not in the files has nearly the name of one that is."""
    if relation.seen or relation.place is not None:
        return False
    missing = RELATION, relation.namespace, relation.name
    return missing in suggestions(context.catalog, [missing], context.session.platform)


def _left_out(former: FormerPublication, unsent: list[Relation]) -> list[Relation]:
    """The tables that were in a publication as all were, or all of a schema, among those that are not sent now."""
    schemas = {entry.namespace for entry in former.schemas}
    named = {entry.relation for entry in former.entries}
    held = (row for row in unsent if former.row.all_tables or row.namespace in schemas)
    return [
        row for row in held if row.oid not in named and row.place is not None and order(row.place) < order(former.place)
    ]


def _unsent(context: RuleContext, publication: Publication) -> list[Relation]:
    """The tables that a publication does not send; partitions go with their tables."""
    catalog = context.catalog
    if publication.all_tables and not catalog.exclusions_of.has(publication.oid):
        return []
    tables = (row for row in catalog.relations.values() if is_publishable(row) and not row.partition)
    return [row for row in tables if route(catalog, publication, row) is None]


def _bared(
    context: RuleContext, former: FormerPublication, created: Publication, final: Publication
) -> list[PublicationRel]:
    """Yield former members that were added again without their row filter or column list, and still have none."""
    catalog, began = context.catalog, context.history.events.began
    bared = []
    for entry in sorted(former.entries, key=lambda entry: order(entry.place)):
        begins = began.get((created.oid, entry.relation))
        member = catalog.members.get((final.oid, entry.relation))
        if begins is None or member is None:
            continue
        row = catalog.publication_rels[member]
        lost_filter = entry.filter is not None and not begins.filter and row.filter is None
        lost_list = entry.columns is not None and not begins.columns and row.columns is None
        if lost_filter or lost_list:
            bared.append(entry)
    return bared


def _options(former: FormerPublication, created: Publication, final: Publication) -> list[str]:
    """The options that were not the default's, and that the new one does not mention and does not have."""
    before, options = former.row, []
    if not before.seen:
        return []
    if "publish" not in former.options:
        operations = [name for name in _OPERATIONS if getattr(before, name)]
        if len(operations) < len(_OPERATIONS) and all(getattr(final, name) for name in _OPERATIONS):
            options.append(f"publish = '{', '.join(operations)}'")
    if (
        "publish_via_partition_root" not in former.options
        and before.via_root
        and not (created.via_root or final.via_root)
    ):
        options.append("publish_via_partition_root = true")
    if "publish_generated_columns" not in former.options and before.generated == "s" and final.generated == "n":
        options.append("publish_generated_columns = stored")
    return options


def _finding(
    context: RuleContext,
    former: FormerPublication,
    publication: Publication,
    place: Place,
    lost: list[PublicationRel],
    left: list[Relation],
    bared: list[PublicationRel],
    options: list[str],
) -> RuleFinding:
    catalog = context.catalog
    missing = [*(catalog.relations[entry.relation] for entry in lost), *left]
    names = [context.name(row) for row in missing]
    plain = [context.name(catalog.relations[entry.relation]) for entry in bared]
    parts = [f"without {listed(names, 'table')}"] if names else []
    if plain:
        parts.append(f"with {listed(plain, 'table')} without the row filter or column list")
    if options:
        parts.append(f"without {listed(options)}")
    remedies = []
    if names:
        shown = [table_name(context.session, row) for row in missing[:MENTIONED]]
        tables = ", ".join([*shown, *(["..."] if len(names) > MENTIONED else [])])
        remedies.append(f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE {tables}")
    if plain:
        remedies.append("repeat the filters and lists")
    if options:
        remedies.append("repeat the options in WITH (...)")
    # What the CREATE of before named is perhaps left out on purpose; what was added since is more likely forgotten.
    created = former.row.place
    added = [entry for entry in lost if created is None or _statement(entry.place) != _statement(created)]
    rows = [*(catalog.relations[entry.relation] for entry in (*lost, *bared)), *left]
    return RuleFinding(
        rule="PUB710",
        message=f'publication "{publication.name}" is {_RECREATED[former.fate]} {", and ".join(parts)} that it had '
        "before",
        help="; ".join(remedies) + "; it is best to keep the publication and ALTER it",
        place=place,
        certain=former.row.seen and publication.seen and all(row.seen for row in rows),
        assumptions=() if former.row.seen else ("the members that the publication had before",),
        related=first_places(
            [
                *((changed_entry.place, "was like this here") for changed_entry in (*lost, *bared)),
                (former.place, f"is {former.fate}"),
            ]
        ),
        object=context.session.qualified(rows[0]) if rows else None,
        also=context.qualified(rows)[1:],
        publications=(publication.name,),
        severity=None if added or bared else "note",
    )


_RECREATED = {"dropped": "recreated", "renamed": "replaced by a renamed one,"}


def _statement(place: Place) -> tuple[int, int]:
    return place.source, place.statement
