"""What consumers demand of row filters and column lists."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import Violation, evaluates
from pubcheck.checks.consumers.keys import identity_kind, primary_key
from pubcheck.checks.consumers.readers import Subject
from pubcheck.checks.context import first_places, listed, quoted
from pubcheck.checks.table_names import table_name
from pubcheck.consumers.demands import ColumnList, RowFilter
from pubcheck.postgres.catalog.rows import PublicationRel, Relation
from pubcheck.postgres.identifiers import identifier
from pubcheck.postgres.replication.publication_lookup import replica_identity


def _violation(
    subject: Subject, entries: list[PublicationRel], message: str, help_text: str, columns: tuple[str, ...] = ()
) -> Violation:
    tables = [subject.catalog.relations[entry.relation] for entry in entries]
    return Violation(
        message=message,
        help=help_text,
        tables=tuple(tables),
        columns=columns,
        place=entries[0].place,
        related=first_places([(entry.place, "and this one") for entry in entries[1:]]),
    )


def _names(subject: Subject, entries: list[PublicationRel]) -> str:
    return listed(subject.context.name(subject.catalog.relations[entry.relation]) for entry in entries)


@evaluates("PUB905", RowFilter)
def row_filter(subject: Subject, demand: RowFilter) -> Iterator[Violation]:
    """Row filters that the consumer does not apply, or not everywhere."""
    entries = [entry for entry in subject.entries if entry.filter is not None]
    if demand.mixed:
        entries = [entry for entry in entries if _unfiltered_elsewhere(subject, entry.relation)]
    if entries:
        elsewhere = ", and another publication has it without" if demand.mixed else ""
        yield _violation(
            subject,
            entries,
            f"{subject.name} has a row filter for {_names(subject, entries)}{elsewhere}",
            "give the table the same filter in all publications" if demand.mixed else _without(subject, entries),
        )


def _unfiltered_elsewhere(subject: Subject, relation: int) -> bool:
    changes = [subject.published_in(publication, relation) for publication in subject.sisters]
    return any(change is not None and change.filter is None for change in changes)


def _without(subject: Subject, entries: list[PublicationRel]) -> str:
    table = table_name(subject.context.session, subject.catalog.relations[entries[0].relation])
    name = identifier(subject.publication.name)
    return f"publish the whole table: ALTER PUBLICATION {name} DROP TABLE {table}, then ADD TABLE {table}"


@evaluates("PUB906", ColumnList)
def column_list(subject: Subject, demand: ColumnList) -> Iterator[Violation]:
    """Column lists that the consumer does not take, or that lack a column."""
    if demand.same:
        yield from _different(subject)
        return
    entries = [entry for entry in subject.entries if entry.columns is not None]
    if demand.without_full:
        entries = [
            entry
            for entry in entries
            if identity_kind(subject.catalog, subject.catalog.relations[entry.relation]) == "full"
        ]
    elif demand.contains:
        for entry in entries:
            relation = subject.catalog.relations[entry.relation]
            missing = sorted(_wanted(subject, demand, relation).difference(entry.columns or ()))
            if missing:
                names = tuple(relation.columns[number - 1].name for number in missing)
                yield _violation(
                    subject,
                    [entry],
                    f"the column list of {subject.name} for {subject.context.name(relation)} does not have "
                    f"{listed(quoted(names), 'column')}",
                    "add it to the column list" if len(missing) == 1 else "add them to the column list",
                    names,
                )
        return
    if entries:
        full = ", which has REPLICA IDENTITY FULL" if demand.without_full else ""
        yield _violation(
            subject,
            entries,
            f"{subject.name} has a column list for {_names(subject, entries)}{full}",
            _without(subject, entries),
        )


def _wanted(subject: Subject, demand: ColumnList, relation: Relation) -> set[int]:
    """Return the columns that a column list must have."""
    if demand.contains == "primary key":
        return set(primary_key(subject.catalog, relation))
    if demand.contains == "replica identity":
        return set(replica_identity(subject.catalog, relation).columns)
    return {column.number for column in relation.live() if not column.generated}


def _different(subject: Subject) -> Iterator[Violation]:
    """Yield tables that another publication of the consumer publishes with other columns."""
    for change in subject.changes:
        for publication in subject.sisters:
            other = subject.published_in(publication, change.relation)
            if other is not None and publication.oid < subject.publication.oid and other.columns != change.columns:
                relation = subject.catalog.relations[change.relation]
                place = change.entry.place if change.entry is not None else None
                yield Violation(
                    message=f'{subject.name} and publication "{publication.name}" publish different columns of '
                    f"{subject.context.name(relation)}",
                    help="use the same column list in both publications",
                    tables=(relation,),
                    place=place,
                )
