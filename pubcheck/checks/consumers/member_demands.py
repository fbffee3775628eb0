"""What consumers demand of the members of a publication: which they are, of which kind, and who else reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pubcheck.checks import written
from pubcheck.checks.consumers.demand_rules import Violation, evaluates
from pubcheck.checks.consumers.readers import Subject, matches
from pubcheck.checks.consumers.table_demands import related
from pubcheck.checks.context import NOT_ELSEWHERE, RuleContext, first_places, listed
from pubcheck.checks.tables import table_name
from pubcheck.consumers.demands import Alone, Kinds, Members, TableKind, ViaRoot
from pubcheck.postgres.catalog.rows import Place, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, unpublished_members
from pubcheck.postgres.tokens import identifier

_KIND_WORDS: dict[TableKind, str] = {
    "partitioned": "a partitioned table",
    "child": "a table with inheriting tables",
    "unlogged": "an unlogged table",
    "foreign": "a foreign table",
    "hypertable": "a hypertable of TimescaleDB",
    "hypertable alone": "a hypertable of TimescaleDB without its chunks",
    "columnar": "a columnar table of Citus",
    "row security": "a table with row security",
}


@evaluates("PUB909", Members)
def members(subject: Subject, demand: Members) -> Iterator[Violation]:
    """Tables that are missing in the publication, or that must not be in it."""
    publication, context = subject.publication, subject.context
    if demand.least and len(subject.changes) < demand.least and not publication.all_tables:
        yield Violation(
            message=f"{subject.name} has no tables",
            help=f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ...",
            certain=not context.session.blind,
        )
    if demand.configured:
        yield from _unlisted(subject)
    yield from _required(subject, demand)
    extra = [row for row in subject.names if matches(demand.forbidden, context.session.qualified(row))]
    if demand.only_configured and subject.reader.tables:
        extra += [row for row in subject.names if not subject.is_configured(row)]
    if extra:
        yield Violation(
            message=f"{subject.name} has {listed(map(context.name, extra), 'table')}",
            help=f"ALTER PUBLICATION {identifier(publication.name)} DROP TABLE {table_name(context.session, extra[0])}",
            tables=tuple(extra),
            related=related(extra, "this table"),
        )
    if demand.root_or_leaf:
        yield from _roots_with_leaves(subject)


def _unlisted(subject: Subject) -> Iterator[Violation]:
    """Yield the tables that the consumer reads and that pg_publication_tables does not list under their names."""
    listed_names = {row.oid for row in subject.names}
    name, session = identifier(subject.publication.name), subject.context.session
    roots = [row for row in subject.roots if row.oid not in listed_names and subject.leaves]
    via_root = [
        (demand.value, claim.strength != "effect")
        for claim in subject.reader.claims(subject.catalog.major.number)
        for demand in claim.demands
        if isinstance(demand, ViaRoot)
    ]
    reads_partitions = any(not value for value, _ in via_root)
    if subject.reader.tables:
        roots = [row for row in roots if subject.is_configured(row)]
    elif reads_partitions or (True, True) in via_root:
        roots = []  # the consumer reads the partitions, or PUB904 says that it reads the partitioned table
    if roots:
        # Without configured tables the consumer may read the partitions by their names.
        configured = bool(subject.reader.tables)
        doubt = f"whether {subject.consumer} is configured to read the partitioned table by its name"
        yield Violation(
            message=f"{subject.name} lists the partitions of {listed(map(subject.context.name, roots))} "
            "instead of the partitioned table",
            help=f"configure {subject.consumer} to read the partitions"
            if reads_partitions
            else f"ALTER PUBLICATION {name} SET (publish_via_partition_root = true)",
            tables=tuple(roots),
            related=related(roots, "a partitioned table"),
            certain=configured,
            assumptions=() if configured else (doubt,),
        )
    missing = [row for row in subject.configured if row.oid not in listed_names and row not in roots]
    missing = [row for row in missing if not any(above in listed_names for above in subject.catalog.ancestors(row.oid))]
    if missing:
        yield Violation(
            message=f"{subject.name} does not have {listed(map(subject.context.name, missing), 'table')}",
            help=f"ALTER PUBLICATION {name} ADD TABLE {table_name(session, missing[0])}",
            tables=tuple(missing),
            related=related(missing, "this table"),
        )
    yield from _unknown(subject)


def _unknown(subject: Subject) -> Iterator[Violation]:
    """Yield the tables that the consumer is configured to read and that the files do not create."""
    publication, session = subject.publication, subject.context.session
    is_list = not publication.all_tables and not subject.catalog.schemas_of.get(publication.oid)
    if not session.complete and not is_list:
        return  # a table that is created elsewhere may be a member
    known = [session.qualified(row) for row in subject.configured]
    unknown = [pattern for pattern in subject.reader.tables if not any(matches((pattern,), name) for name in known)]
    if unknown:
        yield Violation(
            message=f"{subject.name} does not have {listed(unknown, 'table')}, and no such table is created",
            help=f"correct the names where {subject.consumer} is configured, or create the tables and publish them",
            certain=session.complete and not session.blind,
            assumptions=() if session.complete else (NOT_ELSEWHERE,),
        )


def _required(subject: Subject, demand: Members) -> Iterator[Violation]:
    context, session = subject.context, subject.context.session
    published = {row.oid for row in subject.leaves}
    for pattern in demand.required:
        rows = [row for row in subject.catalog.relations.values() if is_publishable(row) and not row.partition]
        rows = [row for row in rows if matches([pattern], session.qualified(row))]
        missing = [row for row in rows if row.oid not in published]
        if missing:
            yield Violation(
                message=f"{subject.name} does not have table {context.name(missing[0])}",
                help=f"ALTER PUBLICATION {identifier(subject.publication.name)} ADD TABLE "
                f"{table_name(session, missing[0])}",
                tables=(missing[0],),
                related=related(missing, "this table"),
            )
        elif not rows and not demand.if_created and not subject.publication.all_tables:
            yield Violation(
                message=f"{subject.name} does not have a table {pattern.lstrip('*')}",
                help="create the table and add it to the publication",
                certain=session.complete and not session.blind,
                assumptions=() if session.complete else (NOT_ELSEWHERE,),
            )


def _roots_with_leaves(subject: Subject) -> Iterator[Violation]:
    """Yield partitioned tables that the publication names together with one of their partitions."""
    catalog = subject.catalog
    named = {entry.relation: entry for entry in subject.entries}
    for entry in subject.entries:
        above = next((oid for oid in catalog.ancestors(entry.relation) if oid in named), None)
        if above is not None:
            leaf, root = catalog.relations[entry.relation], catalog.relations[above]
            name = identifier(subject.publication.name)
            yield Violation(
                message=f"{subject.name} names {subject.context.name(root)} and its partition "
                f"{subject.context.name(leaf)}",
                help=f"ALTER PUBLICATION {name} DROP TABLE {table_name(subject.context.session, leaf)}",
                tables=(leaf, root),
                place=entry.place,
            )


@evaluates("PUB910", Kinds)
def kinds(subject: Subject, demand: Kinds) -> Iterator[Violation]:
    """Tables of a kind that the consumer does not read."""
    for kind in demand.forbid:
        tables = _of_kind(subject, kind)
        if tables:
            name = table_name(subject.context.session, tables[0])
            yield Violation(
                message=f"{subject.name} has {_KIND_WORDS[kind]}: {listed(map(subject.context.name, tables))}",
                help=_kind_help(kind, name),
                tables=tuple(tables),
                related=first_places([(row.place, _KIND_WORDS[kind]) for row in tables if row.place is not None]),
            )


def _kind_help(kind: TableKind, name: str) -> str:
    if kind == "partitioned":
        return "publish the partitions by their names, or leave the partitioned table out"
    if kind == "unlogged":
        return f"ALTER TABLE {name} SET LOGGED"
    if kind == "row security":
        return "give the replication role BYPASSRLS"
    if kind == "child":
        return "read the inheriting tables as well"
    if kind == "hypertable alone":
        return f"publish all tables, or the schema of {name} together with {_CHUNKS}"
    return f"leave {name} out of the publication"


def _of_kind(subject: Subject, kind: TableKind) -> list[Relation]:
    catalog, context = subject.catalog, subject.context
    if kind == "partitioned":
        return subject.roots
    if kind in ("unlogged", "foreign"):
        rows = (
            catalog.relations[oid] for oid, why in unpublished_members(catalog, subject.publication.oid) if why == kind
        )
        return [row for row in rows if kind == "unlogged" or row.partition]
    if kind == "child":
        return [row for row in subject.leaves if catalog.children.has(row.oid)]
    if kind == "hypertable alone" and _has_chunks(subject):
        return []
    facts: dict[str, Callable[[RuleContext], dict[int, Place]]] = {
        "hypertable": written.hypertables,
        "hypertable alone": written.hypertables,
        "columnar": written.columnar_tables,
        "row security": written.tables_with_row_security,
    }
    oids = context.once(facts[kind])
    published = {row.oid: row for row in (*subject.names, *subject.leaves)}
    return [row for row in published.values() if row.oid in oids]


_CHUNKS = "_timescaledb_internal"
"""The schema of the chunks of hypertables."""


def _has_chunks(subject: Subject) -> bool:
    """Return whether a publication has the chunks of all hypertables."""
    catalog, publication = subject.catalog, subject.publication
    schemas = (catalog.publication_namespaces[oid].namespace for oid in catalog.schemas_of.get(publication.oid))
    return publication.all_tables or any(catalog.namespaces[oid].name == _CHUNKS for oid in schemas)


@evaluates("PUB914", Alone)
def alone(subject: Subject, demand: Alone) -> Iterator[Violation]:
    """Publications that the consumer changes, and that others read or that narrow what is published."""
    name = subject.name
    if subject.fellows:
        others = listed([reader.consumer.name for reader in subject.fellows])
        yield Violation(
            message=f"{name} is also read by {others}",
            help="create a publication for each consumer",
        )
    if demand.rewrites:
        narrowed = [entry for entry in subject.entries if entry.filter is not None or entry.columns is not None]
        if narrowed:
            rows = [subject.catalog.relations[entry.relation] for entry in narrowed]
            tables = listed(map(subject.context.name, rows), "table")
            yield Violation(
                message=f"{name} has row filters or column lists for {tables}",
                help=f"let {subject.consumer} create a publication of its own",
                tables=tuple(rows),
                place=narrowed[0].place,
            )
