"""Publications that publish less than expected, or at a cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.checks.context import RuleContext, RuleFinding, by_publication, finds, first_places, listed
from pubcheck.diagnostics import Severity
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA
from pubcheck.postgres.catalog.rows import Constraint, Place, Publication, Relation
from pubcheck.postgres.replication.publication_lookup import effective_entry, is_publishable, publications_of, route
from pubcheck.postgres.tokens import ascii_lower, identifier, in_quotes, quote_literal

if TYPE_CHECKING:
    from pubcheck.postgres.replication.publication_lookup import Reason

_ROWS = ("insert", "update", "delete")
_ENDS_NAME = lazy_compile(r'[\s,"]')
"""Characters that end a name without quotes in publication_names, or are refused in it."""


def _about(
    context: RuleContext,
    rule: str,
    publication: Publication,
    message: str,
    advice: str,
    *,
    place: Place | None = None,
    relations: Sequence[Relation] = (),
    related: tuple[tuple[Place, str], ...] = (),
    columns: tuple[str, ...] = (),
    severity: Severity | None = None,
    certain: bool = True,
) -> Iterator[RuleFinding]:
    place = place or context.place_of(publication)
    if place is not None:
        yield RuleFinding(
            rule=rule,
            message=message,
            help=advice,
            place=place,
            certain=publication.seen and certain,
            related=related,
            object=context.session.qualified(relations[0]) if relations else None,
            publications=(publication.name,),
            columns=columns,
            severity=severity,
            also=context.qualified(relations)[1:],
        )


def _unpublished(context: RuleContext, publication: Publication) -> list[tuple[Relation, Reason]]:
    """Return the relations that a publication reaches and never publishes. Publications of all tables share them."""
    from pubcheck.postgres.replication.publication_lookup import reach, unpublished_members

    catalog, known = context.catalog, context.once(_unpublished_by_reach)
    key = reach(catalog, publication)
    if key not in known:
        unpublished = unpublished_members(catalog, publication.oid)
        known[key] = [(catalog.relations[oid], reason) for oid, reason in unpublished]
    return known[key]


def _unpublished_by_reach(context: RuleContext) -> dict[object, list[tuple[Relation, Reason]]]:
    return {}


def _has_members(context: RuleContext, publication: Publication) -> bool:
    catalog = context.catalog
    return publication.all_tables or catalog.members_of.has(publication.oid) or catalog.schemas_of.has(publication.oid)


def _publishes(publication: Publication) -> list[str]:
    return [name for name in (*_ROWS, "truncate") if getattr(publication, name)]


@finds("PUB805")
def information_schema(context: RuleContext) -> Iterator[RuleFinding]:
    """Tables of information_schema, and the schema itself: accepted, and nothing of them is ever sent."""
    catalog = context.catalog
    for entry in context.visit(context.entries):
        relation = catalog.relations[entry.relation]
        if relation.oid < FIRST_NORMAL_OID:
            yield from _about(
                context,
                "PUB805",
                catalog.publications[entry.publication],
                f"{context.name(relation)} is accepted but never published: tables created by initdb are not published",
                "drop it from the publication",
                place=entry.place,
                relations=[relation],
            )
    for schema in catalog.publication_namespaces.values():
        if schema.namespace == INFORMATION_SCHEMA:
            yield from _about(
                context,
                "PUB805",
                catalog.publications[schema.publication],
                "the schema information_schema is accepted, but none of its tables is ever published",
                "drop it from the publication",
                place=schema.place,
            )


@finds("PUB806")
def left_out(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield tables that FOR ALL TABLES and TABLES IN SCHEMA skip."""
    for publication in context.visit(context.catalog.publications.values()):
        if not publication.all_tables and not context.catalog.schemas_of.has(publication.oid):
            continue
        missing = [
            (row, reason)
            for row, reason in _unpublished(context, publication)
            if reason in ("unlogged", "temporary", "foreign") and not row.partition
        ]
        if missing:
            names = [f"{context.name(row)} ({reason})" for row, reason in missing]
            yield from _about(
                context,
                "PUB806",
                publication,
                f'publication "{publication.name}" does not publish {listed(names)}: only permanent tables are '
                "published",
                "make them permanent (ALTER TABLE ... SET LOGGED) if the subscriber needs them",
                relations=[row for row, _ in missing],
                related=first_places([(row.place, reason) for row, reason in missing if row.place is not None]),
            )


@finds("PUB816")
def sequences_not_streamed(context: RuleContext) -> Iterator[RuleFinding]:
    """ALL SEQUENCES: values are copied when a subscription is created or refreshed, and never sent."""
    for publication in context.visit(context.catalog.publications.values()):
        if publication.all_sequences:
            yield from _about(
                context,
                "PUB816",
                publication,
                f'publication "{publication.name}" does not send what nextval and setval do: the subscriber\'s '
                "sequences keep the values of the last CREATE SUBSCRIPTION or REFRESH SEQUENCES",
                "before a switch-over run ALTER SUBSCRIPTION ... REFRESH SEQUENCES, after the publisher's last write",
            )


@finds("PUB807")
def not_replicated(context: RuleContext) -> Iterator[RuleFinding]:
    """Sequences and materialized views next to published tables; foreign keys to tables that are not published."""
    catalog = context.catalog
    keys: dict[int, list[tuple[int, Constraint]]] = {}
    for number, row in enumerate(catalog.constraints.values()):
        if row.kind == "f" and row.references in catalog.relations and row.relation in catalog.relations:
            keys.setdefault(row.relation, []).append((number, row))
    for publication in context.visit(catalog.publications.values()):
        if not _has_members(context, publication):
            continue
        if publication.all_tables or catalog.schemas_of.has(publication.oid):
            missing = [
                row
                for row, reason in _unpublished(context, publication)
                if reason == "materialized view" or (reason == "sequence" and not publication.all_sequences)
            ]
            if missing:
                yield from _about(
                    context,
                    "PUB807",
                    publication,
                    f'publication "{publication.name}" does not publish '
                    f"{listed(context.name(row) for row in missing)}: "
                    "sequences and materialized views are not replicated, nor are DDL and large objects",
                    "before a switch-over set the subscriber's sequences (setval) and refresh its materialized views",
                    relations=missing,
                )
        yield from _foreign_keys(context, publication, keys)


def _foreign_keys(
    context: RuleContext, publication: Publication, keys: dict[int, list[tuple[int, Constraint]]]
) -> Iterator[RuleFinding]:
    """``keys`` are all foreign keys of the unit by their table, each with its place among the constraints."""
    catalog = context.catalog
    if publication.all_tables and not catalog.exclusions_of.has(publication.oid):
        return
    tables: Iterable[int] = keys
    if not publication.all_tables and not catalog.schemas_of.has(publication.oid):
        members = catalog.members_of.get(publication.oid)
        roots = (catalog.publication_rels[member].relation for member in members)
        tables = {oid for root in roots for oid in catalog.descendants(root)}
    references: list[tuple[Relation, Relation]] = []
    for _, row in sorted((key for oid in tables for key in keys.get(oid, ())), key=lambda key: key[0]):
        child, parent = catalog.relations[row.relation], catalog.relations[row.references]
        if route(catalog, publication, child) is not None and route(catalog, publication, parent) is None:
            references.append((child, parent))
    if references:
        pairs = listed(f"{context.name(source)} (to {context.name(target)})" for source, target in references)
        yield from _about(
            context,
            "PUB807",
            publication,
            f'publication "{publication.name}" publishes {pairs} but not the tables that their foreign keys reference: '
            "the subscriber does not check them",
            "publish the referenced tables as well, or drop the foreign keys on the subscriber",
            relations=[source for source, _ in references],
        )


@finds("PUB802")
def publishes_nothing(context: RuleContext) -> Iterator[RuleFinding]:
    """publish = '': accepted, no change is sent, the initial copy runs."""
    for publication in context.visit(context.catalog.publications.values()):
        if publication.seen and not _publishes(publication):
            yield from _about(
                context,
                "PUB802",
                publication,
                f'publication "{publication.name}" publishes no operation: a subscriber gets the initial copy and then '
                "nothing",
                f"ALTER PUBLICATION {identifier(publication.name)} SET (publish = 'insert, update, delete, truncate')",
            )


@finds("PUB803")
def updates_without_inserts(context: RuleContext) -> Iterator[RuleFinding]:
    """publish with update and without insert: updates of rows that the subscriber never got."""
    firsts = {publication.oid: filters[0] for publication, filters in by_publication(context)}
    for publication in context.visit(context.catalog.publications.values()):
        if not publication.update or publication.insert or not _has_members(context, publication):
            continue
        filtered = firsts.get(publication.oid)
        name = publication.name
        if filtered is None:
            message = (
                f'publication "{name}" publishes updates but not inserts: updates of rows that came after the initial '
                "copy are skipped by the subscriber"
            )
            yield from _about(context, "PUB803", publication, message, "publish insert as well")
            continue
        unpublished = [action for action in ("insert", "delete") if not getattr(publication, action)]
        message = (
            f'publication "{name}" still publishes {" and ".join(action.upper() + "s" for action in unpublished)}: '
            f"an UPDATE that moves a row of {context.name(filtered.relation)} into the row filter is published as "
            "INSERT, one that moves it out as DELETE"
        )
        advice = "publish insert and delete too, or drop the filter"
        yield from _about(
            context,
            "PUB803",
            publication,
            message,
            advice,
            relations=[filtered.relation],
            related=((filtered.entry.place, "the filtered table"),),
            severity="warning",
        )


@finds("PUB814")
def upper_case_names(context: RuleContext) -> Iterator[RuleFinding]:
    """Names with upper-case letters, which pgoutput folds where a client leaves the quotes out.

    The option publication_names is read like a list of identifiers (SplitIdentifierString). Subscriptions of PostgreSQL
    write the quotes.
    """
    for publication in context.visit(context.catalog.publications.values()):
        name = publication.name
        folded = ascii_lower(name)
        if not publication.seen or name == folded or context.is_subscribed(publication.oid):
            continue
        namesake = (
            ", which is another publication of these files" if folded in context.catalog.publication_names else ""
        )
        result = f'asks for "{folded}"{namesake}'
        if _ENDS_NAME.search(name):
            result = "is refused, or asks for another publication"
        yield from _about(
            context,
            "PUB814",
            publication,
            f'publication "{name}" has upper-case letters: a client that passes the name to pgoutput without double '
            f"quotes {result}",
            "name it in lower case, or write the quotes into the client's option: publication_names "
            f"{quote_literal(in_quotes(name))}",
        )


@finds("PUB804")
def empty(context: RuleContext) -> Iterator[RuleFinding]:
    """No table at all: no FOR clause, schemas without tables, or all members gone."""
    catalog = context.catalog
    for publication in context.visit(catalog.publications.values()):
        if not publication.seen or publication.scope or catalog.members_of.has(publication.oid):
            continue
        schemas = [catalog.publication_namespaces[oid].namespace for oid in catalog.schemas_of.get(publication.oid)]
        held = (catalog.relations[oid] for schema in schemas for oid in catalog.relations_in.get(schema))
        if any(is_publishable(row) for row in held) or not all(catalog.namespaces[oid].seen for oid in schemas):
            continue
        where = f" ({listed((catalog.namespaces[oid].name for oid in schemas), 'schema')} without tables)"
        yield from _about(
            context,
            "PUB804",
            publication,
            f'publication "{publication.name}" has no tables{where if schemas else ""}, and publishes nothing',
            f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ...; subscribers then REFRESH PUBLICATION",
            certain=not context.session.blind,
        )


@finds("PUB801")
def initial_copy(context: RuleContext) -> Iterator[RuleFinding]:
    """The initial copy knows no publish option; subscribers before 15 know neither filters nor column lists."""
    catalog = context.catalog
    for publication in context.visit(catalog.publications.values()):
        if not _has_members(context, publication):
            continue
        name = publication.name
        if not publication.insert:
            yield from _about(
                context,
                "PUB801",
                publication,
                f'publication "{name}" does not publish inserts, but the initial copy still copies all rows',
                "subscribe WITH (copy_data = false) if the rows are not wanted",
            )
        entries = [catalog.publication_rels[oid] for oid in catalog.members_of.get(publication.oid)]
        narrowed = [entry for entry in entries if entry.filter is not None or entry.columns is not None]
        if narrowed:
            tables = listed(context.name(catalog.relations[entry.relation]) for entry in narrowed)
            yield from _about(
                context,
                "PUB801",
                publication,
                f"a subscriber before PostgreSQL 15 copies {tables} whole, with all rows and columns: it does not ask "
                f'for the filters and column lists of "{name}"',
                "subscribe with 15 or later, or WITH (copy_data = false)",
                place=narrowed[0].place,
                relations=[catalog.relations[entry.relation] for entry in narrowed],
            )


@finds("PUB808")
def generated_columns(context: RuleContext) -> Iterator[RuleFinding]:
    """Stored generated columns that are not sent, and virtual ones, which never are."""
    catalog = context.catalog
    tables = [row for row in catalog.relations.values() if is_publishable(row) and any(c.generated for c in row.live())]
    groups: dict[int, list[tuple[Relation, str]]] = {}
    for relation in tables:
        for publication in publications_of(catalog, relation):
            arrives = route(catalog, publication, relation)
            if arrives is None or arrives.arrives_as != relation.oid:
                continue
            entry = effective_entry(catalog, publication, relation.oid)
            listed_ones = entry is not None and entry.columns is not None
            for column in relation.live():
                unsent = column.generated == "s" and publication.generated != "s" and not listed_ones
                if unsent or column.generated == "v":
                    groups.setdefault(publication.oid, []).append((relation, column.name))
    for oid, columns in groups.items():
        publication = catalog.publications[oid]
        relation = columns[0][0]
        names = listed(f"{context.name(row)}.{name}" for row, name in columns)
        advice = "let the subscriber generate them too, as its own generated columns"
        if catalog.major.publish_generated_columns:
            advice += "; or, stored ones, WITH (publish_generated_columns = stored) or in a column list"
        yield from _about(
            context,
            "PUB808",
            publication,
            f'publication "{publication.name}" does not publish the generated columns {names}',
            advice,
            relations=[row for row, _ in columns],
            related=first_places([(row.place, f'"{name}"') for row, name in columns if row.place is not None]),
            columns=tuple(name for _, name in columns),
        )


@finds("PUB809")
def identity_full(context: RuleContext) -> Iterator[RuleFinding]:
    """Tables with REPLICA IDENTITY FULL whose updates or deletes are published."""
    catalog = context.catalog
    for relation in context.visit(catalog.relations.values()):
        if relation.identity != "f" or relation.kind != "r" or not is_publishable(relation):
            continue
        publications = [row for row in publications_of(catalog, relation) if row.update or row.delete]
        place = relation.place or (context.place_of(publications[0]) if publications else None)
        if not publications or place is None:
            continue
        any_index = catalog.major.apply_uses_any_index
        search = "by an index only where a usable one exists" if any_index else "by a sequential scan"
        yield RuleFinding(
            rule="PUB809",
            message=f"{context.name(relation)} has REPLICA IDENTITY FULL: every UPDATE and DELETE logs and "
            f"replicates the whole old row, and the subscriber searches for it {search}",
            help="a primary key, or REPLICA IDENTITY USING INDEX with a unique index over NOT NULL columns, is cheaper",
            place=place,
            certain=relation.seen and any(row.seen for row in publications),
            object=context.session.qualified(relation),
            publications=tuple(row.name for row in publications),
        )
