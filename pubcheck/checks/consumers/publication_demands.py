"""What consumers demand of the publication itself: its name, its scope and its options."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import Violation, evaluates
from pubcheck.checks.consumers.readers import Subject
from pubcheck.checks.context import first_places, listed
from pubcheck.consumers.demands import Majors, Name, Operations, PublicationScope, Scope, Unread, ViaRoot
from pubcheck.consumers.profiles import ENDLESS
from pubcheck.postgres.identifiers import identifier
from pubcheck.postgres.replication.published_changes import OPERATIONS


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
