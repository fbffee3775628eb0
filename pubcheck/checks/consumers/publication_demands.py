"""What consumers demand of the publication itself: its name, scope and options, its row filters and column lists, and
the order of its statements in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.checks import written
from pubcheck.checks.consumers.demand_rules import Violation, evaluates, identity_kind, primary_key
from pubcheck.checks.consumers.readers import Subject
from pubcheck.checks.context import first_places, listed, order, quoted
from pubcheck.checks.history.slots import slot_before
from pubcheck.checks.tables import table_name
from pubcheck.consumers.demands import (
    ColumnList,
    Majors,
    Name,
    Operations,
    Order,
    PublicationScope,
    RowFilter,
    Scope,
    Unread,
    ViaRoot,
)
from pubcheck.consumers.profiles import ENDLESS
from pubcheck.postgres.catalog.rows import Place, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import OPERATIONS, replica_identity
from pubcheck.postgres.tokens import identifier


@evaluates("PUB900", Name)
def publication_name(subject: Subject, demand: Name) -> Iterator[Violation]:
    """A name that the consumer does not look for, or cannot write."""
    name = subject.publication.name
    wanted = demand.equals or demand.default
    if wanted and name != wanted:
        yield Violation(
            message=f'{subject.name} has another name than "{wanted}"',
            help=f"ALTER PUBLICATION {identifier(name)} RENAME TO {identifier(wanted)}"
            + ("" if demand.equals else f", or configure {subject.consumer} with this name"),
        )
    elif demand.pattern and not re.search(demand.pattern, name):
        yield Violation(
            message=f"the name of {subject.name} does not match {demand.pattern}",
            help=f"rename it: ALTER PUBLICATION {identifier(name)} RENAME TO ...",
        )


@evaluates("PUB902", PublicationScope)
def scope(subject: Subject, demand: PublicationScope) -> Iterator[Violation]:
    """FOR ALL TABLES, FOR TABLES IN SCHEMA or FOR TABLE where the consumer takes another one."""
    words: dict[Scope, str] = {
        "all tables": "FOR ALL TABLES",
        "schemas": "FOR TABLES IN SCHEMA",
        "tables": "FOR TABLE",
    }
    catalog, oid = subject.catalog, subject.publication.oid
    scopes: list[Scope] = ["all tables"] if subject.publication.all_tables else []
    scopes += ["schemas"] if catalog.schemas_of.has(oid) else []
    scopes += ["tables"] if catalog.members_of.has(oid) else []
    wrong = [words[scope_name] for scope_name in scopes if scope_name not in demand.allow]
    if wrong:
        allowed = listed([words[scope_name] for scope_name in demand.allow], last="or")
        yield Violation(
            message=f"{subject.name} is {' and '.join(wrong)}",
            help=f"drop the publication and create it {allowed}",
        )


@evaluates("PUB903", Operations)
def operations(subject: Subject, demand: Operations) -> Iterator[Violation]:
    """Operations that are missing in the publish option, or that must not be in it."""
    publication = subject.publication
    published = [operation for operation in OPERATIONS if getattr(publication, operation)]
    missing = [operation for operation in demand.published if operation not in published]
    extra = [operation for operation in demand.unpublished if operation in published]
    wanted = [name for name in OPERATIONS if (name in published or name in missing) and name not in extra]
    advice = f"ALTER PUBLICATION {identifier(publication.name)} SET (publish = '{', '.join(wanted)}')"
    if missing:
        yield Violation(
            message=f"{subject.name} does not publish {listed(missing)}",
            help=advice,
            operation=missing[0],
        )
    if extra:
        yield Violation(message=f"{subject.name} publishes {listed(extra)}", help=advice, operation=extra[0])


@evaluates("PUB904", ViaRoot)
def via_root(subject: Subject, demand: ViaRoot) -> Iterator[Violation]:
    """publish_via_partition_root with the value that the consumer does not take."""
    publication = subject.publication
    if publication.via_root == demand.value or not (demand.always or subject.roots):
        return
    value = "true" if demand.value else "false"
    roots = tuple(subject.roots)
    about = f" of {listed(map(subject.context.name, roots))}" if roots else ""
    arrives = "their roots" if publication.via_root else "the partitions"
    yield Violation(
        message=f"{subject.name} publishes changes{about} under the names of {arrives}",
        help=f"ALTER PUBLICATION {identifier(publication.name)} SET (publish_via_partition_root = {value})",
        tables=roots,
        related=first_places([(row.place, "a partitioned table") for row in roots if row.place is not None]),
    )


@evaluates("PUB916", Majors)
def majors(subject: Subject, demand: Majors) -> Iterator[Violation]:
    """A version of PostgreSQL that the consumer does not read from."""
    major = subject.catalog.major.number
    if major not in range(demand.least, (demand.most or ENDLESS) + 1):
        supported = [f"from {demand.least}"] if demand.least else []
        supported += [f"up to {demand.most}"] if demand.most else []
        yield Violation(
            message=f"{subject.name} is on PostgreSQL {major}, and {subject.consumer} reads {' '.join(supported)}",
            help="use another version of the server or of the consumer",
        )


@evaluates("PUB918", Unread)
def unread(subject: Subject, demand: Unread) -> Iterator[Violation]:
    """A publication that narrows what is published, for a consumer that looks at no publication."""
    publication = subject.publication
    unpublished = [operation for operation in OPERATIONS if not getattr(publication, operation)]
    parts = [f"leaves out {listed(unpublished)}"] if unpublished else []
    parts += ["has row filters"] if any(entry.filter is not None for entry in subject.entries) else []
    parts += ["has column lists"] if any(entry.columns is not None for entry in subject.entries) else []
    if parts:
        yield Violation(
            message=f"{subject.name} {listed(parts)}",
            help=f"choose tables, rows and columns in the configuration of {subject.consumer}",
        )


# What consumers demand of row filters and column lists.


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


# What consumers demand of the order of statements in the files.


@evaluates("PUB920", Order)
def statement_order(subject: Subject, demand: Order) -> Iterator[Violation]:
    """Statements that come too early, too late, or that the consumer does not follow."""
    for kind in demand.forbid:
        yield from _CHECKS[kind](subject)


def _slot(subject: Subject) -> Iterator[Violation]:
    slot = slot_before(subject.context, subject.publication)
    if slot is not None:
        yield Violation(
            message=f"the replication slot is older than {subject.name}",
            help="create the publication first, and then the slot",
            related=((slot, "the slot is created here"),),
        )


def _members(subject: Subject) -> Iterator[Violation]:
    """Yield members that a statement dropped and a later one added again."""
    context = subject.context
    again = context.history.added_again.get(subject.publication.oid, {})
    for oid, place in again.items():
        relation = subject.catalog.relations.get(oid)
        if relation is not None:
            yield Violation(
                message=f"{context.name(relation)} is dropped from {subject.name} and added again",
                help="change the membership with ALTER PUBLICATION ... SET TABLE, or leave it as it is",
                tables=(relation,),
                place=place,
            )


def _columns(subject: Subject) -> Iterator[Violation]:
    """Yield tables that got columns, or other types, after they were published."""
    published = {row.oid for row in subject.leaves} | {row.oid for row in subject.names}
    places: dict[int, Place] = {}
    for added in subject.context.history.added:
        if added.relation in published:
            places.setdefault(added.relation, added.place)
    for oid, place in places.items():
        relation = subject.catalog.relations[oid]
        yield Violation(
            message=f"{subject.context.name(relation)} gets columns after {subject.name} has it",
            help=f"let {subject.consumer} read the table again after this change",
            tables=(relation,),
            place=place,
        )


def _identity(subject: Subject) -> Iterator[Violation]:
    """Yield tables whose replica identity is altered after they were published."""
    altered = subject.context.once(written.altered_identities)
    tables: list[tuple[Relation, Place]] = []
    for change in subject.changes:
        place = altered.get(change.relation)
        since = change.entry.place if change.entry is not None else subject.publication.place
        if place is not None and since is not None and order(since) < order(place):
            tables.append((subject.catalog.relations[change.relation], place))
    if tables:
        rows = [row for row, _ in tables]
        yield Violation(
            message=f"the replica identity of {listed(map(subject.context.name, rows))} is altered after "
            f"{subject.name} has {'them' if len(rows) > 1 else 'it'}",
            help="set the replica identity before the table is published",
            tables=tuple(rows),
            place=tables[0][1],
        )


def _comment(subject: Subject) -> Iterator[Violation]:
    """Yield an ALTER PUBLICATION that no COMMENT ON PUBLICATION follows."""
    name = subject.publication.name
    altered = subject.context.once(written.publications_altered).get(name)
    commented = subject.context.once(written.publications_commented).get(name)
    if altered is not None and (commented is None or order(commented) < order(altered)):
        yield Violation(
            message=f"{subject.name} is altered, and no COMMENT ON PUBLICATION follows",
            help=f"COMMENT ON PUBLICATION {identifier(name)} IS '...'",
            place=altered,
        )


_CHECKS = {"slot": _slot, "members": _members, "columns": _columns, "identity": _identity, "comment": _comment}
