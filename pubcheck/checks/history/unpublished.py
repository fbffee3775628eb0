"""Members and columns that are no longer published, and rows that never were.

Only losses that last to the final state are reported: not those that are rolled back or that a later statement fixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, order, quoted
from pubcheck.checks.publication_history import Added, EndedMembership, out, still_out
from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, route
from pubcheck.postgres.tokens import identifier


@finds("PUB709")
def set_drops_members(context: RuleContext) -> Iterator[RuleFinding]:
    """ALTER PUBLICATION ... SET with less than there was: other members leave, filters and lists are taken off."""
    catalog, history = context.catalog, context.history
    groups: dict[tuple[int, Place], list[EndedMembership]] = {}
    for removed in context.visit(history.ended_memberships):
        if removed.by == "set" and still_out(catalog, removed.entry.publication, removed.entry.relation):
            groups.setdefault((removed.entry.publication, removed.place), []).append(removed)
    for (oid, place), removals in groups.items():
        publication = catalog.publications[oid]
        names = [context.name(catalog.relations[removal.entry.relation]) for removal in removals]
        advice = f"name all members in SET; or ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ..., which "
        advice += "keeps the others; use DROP TABLE ... if they are meant to go"
        if _sets_one(catalog, oid, place):
            advice += "; put an ADD TABLE that may run twice into a DO block with EXCEPTION WHEN duplicate_object"
        yield RuleFinding(
            rule="PUB709",
            message=f'{listed(names, "table")} {_is(names)} no longer in publication "{publication.name}": SET '
            "replaces the whole list",
            help=advice,
            place=place,
            certain=publication.seen,
            related=first_places([(removal.entry.place, "became a member here") for removal in removals]),
            object=context.session.qualified(catalog.relations[removals[0].entry.relation]),
            also=context.qualified(catalog.relations[removal.entry.relation] for removal in removals)[1:],
            publications=(publication.name,),
        )
    yield from _schemas_dropped(context)
    yield from _bared(context)
    reported = {place for _, place in groups}
    for oid, (place, all_tables) in history.blind_sets.items():
        if place not in reported and oid in catalog.publications and not catalog.publications[oid].seen:
            yield _members_elsewhere(catalog.publications[oid], place, all_tables=all_tables)


def _sets_one(catalog: Catalog, publication: int, place: Place) -> bool:
    """Return whether what SET names is one table: perhaps it is an ADD that was meant to run twice."""
    members = [catalog.publication_rels[member].place for member in catalog.members_of.get(publication)]
    from_statement = [entry for entry in members if (entry.source, entry.statement) == (place.source, place.statement)]
    return len(from_statement) == 1


def _members_elsewhere(publication: Publication, place: Place, *, all_tables: bool) -> RuleFinding:
    # SET ALL TABLES is refused for a publication that has members (CheckAlterPublication).
    change = "SET ALL TABLES replaces the EXCEPT list" if all_tables else "SET replaces the whole list"
    loss = "tables that it left out are published" if all_tables else "members that were added elsewhere are dropped"
    advice = f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ..., unless SET names all members"
    return RuleFinding(
        rule="PUB709",
        message=f'{change} of publication "{publication.name}", which these files do not create: {loss}',
        help="name all tables to leave out after EXCEPT" if all_tables else advice,
        place=place,
        certain=False,
        publications=(publication.name,),
        severity="note",
    )


def _schemas_dropped(context: RuleContext) -> Iterator[RuleFinding]:
    catalog = context.catalog
    for former, place in context.history.schemas_taken:
        if former.publication not in catalog.publications or former.namespace not in catalog.namespaces:
            continue
        if (former.publication, former.namespace) in catalog.schema_members:
            continue
        publication = catalog.publications[former.publication]
        name = catalog.namespaces[former.namespace].name
        yield RuleFinding(
            rule="PUB709",
            message=f'schema {name} is no longer in publication "{publication.name}": SET replaces the whole list, '
            "schemas and tables alike",
            help=f"name all members in SET; or ALTER PUBLICATION {identifier(publication.name)} ADD ..., which "
            "keeps the others",
            place=place,
            certain=publication.seen,
            related=((former.place, "became a member here"),),
            publications=(publication.name,),
            mentions=(name,),
        )


def _bared(context: RuleContext) -> Iterator[RuleFinding]:
    catalog = context.catalog
    for entry, place, how in context.history.bared:
        member = catalog.members.get((entry.publication, entry.relation))
        if member is None or entry.publication not in catalog.publications:
            continue
        row = catalog.publication_rels[member]
        lost = ["row filter"] if entry.filter is not None and row.filter is None else []
        lost += ["column list"] if entry.columns is not None and row.columns is None else []
        if not lost:
            continue
        publication, relation = catalog.publications[entry.publication], catalog.relations[entry.relation]
        contents = "rows and columns" if len(lost) > 1 else "rows" if lost[0] == "row filter" else "columns"
        yield RuleFinding(
            rule="PUB709",
            message=f'{context.name(relation)} loses its {" and its ".join(lost)} in "{publication.name}": '
            f"{_BARES[how]} without, and all {contents} are published from here on",
            help=f"write the filter and the list again{', in SET, which replaces all of them' if how == 'set' else ''}",
            place=place,
            certain=publication.seen and relation.seen,
            related=((entry.place, f"had {'both' if len(lost) > 1 else 'it'} here"),),
            object=context.session.qualified(relation),
            publications=(publication.name,),
            severity=None if how == "set" else "note",
        )


_BARES = {"set": "SET names it", "added": "it is dropped and added again"}


@finds("PUB706")
def cascade_unpublishes(context: RuleContext) -> Iterator[RuleFinding]:
    """CASCADE takes a table out of a publication whose filter or list uses what is dropped."""
    catalog = context.catalog
    for removed in context.visit(context.history.ended_memberships):
        entry = removed.entry
        if removed.by != "cascade" or not still_out(catalog, entry.publication, entry.relation):
            continue
        publication, relation = catalog.publications[entry.publication], catalog.relations[entry.relation]
        used = "row filter" if entry.columns is None else "column list" if entry.filter is None else "filter or list"
        yield RuleFinding(
            rule="PUB706",
            message=f'CASCADE drops {context.name(relation)} from publication "{publication.name}", whose {used} '
            "uses the dropped object: its changes are no longer published",
            help=f"change the publication first: ALTER PUBLICATION {identifier(publication.name)} SET TABLE with the "
            "whole list, this table without the column; then drop it without CASCADE",
            place=removed.place,
            certain=publication.seen and relation.seen,
            related=((entry.place, "was published with it"),),
            object=context.session.qualified(relation),
            publications=(publication.name,),
        )


@finds("PUB705")
def no_longer_published(context: RuleContext) -> Iterator[RuleFinding]:
    """Recreated or renamed tables and schemas, and tables that left a published schema or became unlogged."""
    yield from _recreated_tables(context)
    yield from _recreated_schemas(context)
    yield from _moved_tables(context)


def _recreated_tables(context: RuleContext) -> Iterator[RuleFinding]:
    catalog = context.catalog
    for (schema, name), former in context.history.former_names.items():
        oid = catalog.relation_names.get((catalog.namespace_names.get(schema, 0), name))
        if oid is None or oid == former.oid or catalog.relations[oid].kind not in "rp":
            continue
        relation = catalog.relations[oid]
        lost = _lost(catalog, former.publications, oid)
        if not lost:
            continue
        word = "dropped and recreated" if former.fate == "dropped" else "another table now: the former one was renamed"
        yield RuleFinding(
            rule="PUB705",
            message=f"{context.name(relation)} is {word}, and not in {listed(quoted(lost), 'publication')}: a "
            "publication refers to tables by OID, not by name",
            help=f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLE {table_name(context.session, relation)}; "
            "subscribers then REFRESH PUBLICATION",
            place=relation.place or former.place,
            certain=relation.seen,
            related=((former.place, f"the published table was {former.fate} here"),),
            object=context.session.qualified(relation),
            publications=tuple(lost),
        )


def _moved_tables(context: RuleContext) -> Iterator[RuleFinding]:
    catalog = context.catalog
    for moved in context.visit(context.history.moved):
        if moved.by not in ("schema", "unlogged") or moved.relation not in catalog.relations:
            continue
        relation = catalog.relations[moved.relation]
        lost = _lost(catalog, moved.publications, relation.oid)
        if not lost:
            continue
        add = f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLE {table_name(context.session, relation)}"
        if moved.by == "schema":
            message = f"{context.name(relation)} leaves {listed(quoted(lost), 'publication')} with its schema: its "
            message += "changes are no longer published"
            advice = f"{add}, or add its new schema"
        else:
            message = f"{context.name(relation)} is unlogged now, and {listed(quoted(lost), 'publication')} no longer "
            message += (
                f"publish{'es' if len(lost) == 1 else ''} its changes; only tables that a publication names are "
                "protected"
            )
            advice = "keep it logged, or do not rely on the subscriber's copy"
        yield RuleFinding(
            rule="PUB705",
            message=message,
            help=advice,
            place=moved.place,
            certain=relation.seen
            and any(catalog.publications[catalog.publication_names[publication]].seen for publication in lost),
            object=context.session.qualified(relation),
            publications=tuple(lost),
        )


def _lost(catalog: Catalog, publications: Iterable[int], relation: int) -> list[str]:
    """Return the names of those of these publications that do not publish a relation in the end."""
    return [catalog.publications[oid].name for oid in publications if still_out(catalog, oid, relation)]


def _recreated_schemas(context: RuleContext) -> Iterator[RuleFinding]:
    """A schema that was published, dropped and made again, with tables that the publications do not have."""
    catalog = context.catalog
    for name, former in context.history.events.schemas.items():
        schema = catalog.namespaces.get(catalog.namespace_names.get(name, 0))
        if schema is None or schema.oid == former.row.oid:
            continue
        tables = [catalog.relations[oid] for oid in catalog.relations_in.get(schema.oid)]
        tables = [row for row in tables if is_publishable(row)]
        rows = [catalog.publications[oid] for oid in former.publications if oid in catalog.publications]
        rows = [row for row in rows if any(out(catalog, row.oid, table) for table in tables)]
        if not rows:
            continue
        lost = [row.name for row in rows]
        yield RuleFinding(
            rule="PUB705",
            message=f"schema {name} is {_RECREATED[former.fate]}, and not in {listed(quoted(lost), 'publication')}: "
            "its tables are no longer published",
            help=f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLES IN SCHEMA {identifier(name)}; subscribers then "
            "REFRESH PUBLICATION",
            place=former.place,
            certain=schema.seen and any(row.seen for row in rows),
            publications=tuple(lost),
            mentions=(name,),
        )


_RECREATED = {"dropped": "dropped and recreated", "renamed": "another one now: the former one was renamed"}


@finds("PUB707")
def columns_outside_lists(context: RuleContext) -> Iterator[RuleFinding]:
    """Columns added to a table that is published with a column list."""
    catalog = context.catalog
    groups: dict[int, list[tuple[PublicationRel, Added, str]]] = {}
    for added in context.visit(context.history.added):
        relation = catalog.relations.get(added.relation)
        # It may be rolled back, or dropped again.
        if relation is None or len(relation.columns) < added.column or relation.columns[added.column - 1].dropped:
            continue
        column = relation.columns[added.column - 1]
        for member in catalog.memberships.get(relation.oid):
            entry = catalog.publication_rels[member]
            if entry.columns is None or added.column in entry.columns or order(entry.place) > order(added.place):
                continue
            groups.setdefault(entry.oid, []).append((entry, added, column.name))
    for group in groups.values():
        entry, first, _ = group[0]
        relation, publication = catalog.relations[entry.relation], catalog.publications[entry.publication]
        names = [name for _, _, name in group]
        new = {added.column for _, added, _ in group}
        whole = {column.number for column in relation.live()} - new <= set(entry.columns or ())
        list_place = entry.column_places[0][1] if entry.column_places else entry.place
        yield RuleFinding(
            rule="PUB707",
            message=f"{listed(quoted(names), 'column')} of {context.name(relation)} {_is(names)} not published: the "
            "column "
            f'list of publication "{publication.name}" {"named all columns until then" if whole else "lacks it"}',
            help=f"ALTER PUBLICATION {identifier(publication.name)} SET TABLE with the whole list of members, this "
            "table's columns with the new one; add it on the subscriber first",
            place=first.place,
            certain=publication.seen and relation.seen,
            related=((list_place, "the column list"),),
            object=context.session.qualified(relation),
            publications=(publication.name,),
            columns=tuple(names),
            severity=None if whole else "note",
        )


@finds("PUB708")
def partitions_moved(context: RuleContext) -> Iterator[RuleFinding]:
    """ATTACH brings rows that were never sent, DETACH ends publication."""
    catalog = context.catalog
    for moved in context.visit(context.history.moved):
        relation = catalog.relations.get(moved.relation)
        if relation is None or moved.by not in ("attached", "detached") or not is_publishable(relation):
            continue
        rows = [catalog.publications[oid] for oid in moved.publications if oid in catalog.publications]
        parent = catalog.relations.get(moved.parent)
        above = context.name(parent) if parent is not None else "its root"
        if moved.by == "detached":
            rows = [row for row in rows if still_out(catalog, row.oid, relation.oid)]
            message = (
                "{table} is no longer published by {publications}: it was published only as a partition of {above}"
            )
            advice = "ALTER PUBLICATION ... ADD TABLE, if its changes are still to be published"
            severity: Any = "note"
        else:
            rows = [row for row in rows if relation.partition and route(catalog, row, relation) is not None]
            # A table made since is taken to be empty.
            rows = [row for row in rows if _older(context, relation, row)]
            by_root = [row for row in rows if row.via_root]
            rows, severity = (by_root, None) if by_root else (rows, "note")
            message = "rows that {table} holds when it is attached to {above} are not published by {publications}"
            if by_root:
                message += ", nor copied later: for a subscriber, {above} is copied already"
                advice = "copy them to the subscriber by hand, or attach an empty table and INSERT them"
            else:
                message += ", until subscribers REFRESH PUBLICATION, which copies them"
                advice = "create the partition on the subscriber, then ALTER SUBSCRIPTION ... REFRESH PUBLICATION"
        if not rows:
            continue
        names = [row.name for row in rows]
        fields = {
            "table": context.name(relation),
            "above": above,
            "publications": listed(quoted(names), "publication"),
        }
        yield RuleFinding(
            rule="PUB708",
            message=message.format_map(fields),
            help=advice,
            place=moved.place,
            certain=relation.seen and any(row.seen for row in rows),
            related=first_places(
                [(place, f'publication "{row.name}"') for row in rows if (place := context.place_of(row))]
            ),
            object=context.session.qualified(relation),
            publications=tuple(names),
            severity=severity,
        )


def _older(context: RuleContext, relation: Relation, publication: Publication) -> bool:
    """Return whether a table was there before a publication."""
    created = context.place_of(publication)
    return relation.place is None or not relation.seen or created is None or order(relation.place) < order(created)


def _is(names: list[str]) -> str:
    return "is" if len(set(names)) == 1 else "are"
