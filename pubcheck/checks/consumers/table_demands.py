"""What consumers demand of the tables of a publication: replica identity, keys, kinds, names and types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pubcheck.checks.consumers.demand_rules import (
    EFFECTS,
    IDENTITY_WORDS,
    KEY_WORDS,
    Violation,
    evaluates,
    identity_kind,
    key_kinds,
    primary_key,
)
from pubcheck.checks.consumers.readers import Subject
from pubcheck.checks.context import first_places, listed, quoted
from pubcheck.checks.tables import can_be_toasted, table_name
from pubcheck.consumers.demands import (
    GeneratedColumns,
    IdentityKind,
    Key,
    Level,
    Names,
    Privileges,
    ReplicaIdentity,
    SetsIdentity,
    Types,
)
from pubcheck.postgres.catalog import PUBLIC
from pubcheck.postgres.catalog.rows import Column, Place, Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.replication.publication_lookup import is_publishable, replica_identity
from pubcheck.postgres.tokens import identifier

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

_Row = TypeVar("_Row")


def tables_on(subject: Subject, level: Level) -> list[Relation]:
    """Return the tables that a demand is about."""
    if level == "names":
        return subject.names
    rows = [] if level == "leaves" else list(subject.roots)
    if level != "roots":
        rows += subject.leaves
    return list({row.oid: row for row in rows}.values())


def leave_out(subject: Subject, table: Relation) -> str:
    """Return the advice not to publish a table."""
    if any(entry.relation == table.oid for entry in subject.entries):
        return f"ALTER PUBLICATION {identifier(subject.publication.name)} DROP TABLE " + table_name(
            subject.context.session, table
        )
    return "publish the other tables by their names"


def related(tables: Iterable[Relation], message: str) -> tuple[tuple[Place, str], ...]:
    """Return the places of tables, each with a message."""
    return first_places([(row.place, message) for row in tables if row.place is not None])


@evaluates("PUB907", ReplicaIdentity)
def identity(subject: Subject, demand: ReplicaIdentity) -> Iterator[Violation]:
    """Tables whose replica identity the consumer does not take; one finding for each kind."""
    publication = subject.publication
    if demand.operations and not any(getattr(publication, operation) for operation in demand.operations):
        return
    groups: dict[IdentityKind, list[Relation]] = {}
    for relation in tables_on(subject, demand.on):
        kind = identity_kind(subject.catalog, relation)
        if kind is None or (kind in demand.allow and (demand.other_keys or not _other_keys(subject, relation, kind))):
            continue
        # Without an identity there is no UPDATE whose values could be missing.
        if not demand.toastable or (kind in ("default", "index") and _toastable(subject, relation)):
            groups.setdefault(kind, []).append(relation)
    for kind, tables in groups.items():
        names = listed(map(subject.context.name, tables), "table")
        yield Violation(
            message=f"{names} of {subject.name} {'have' if len(tables) > 1 else 'has'} {_identity_words(demand, kind)}",
            help=_identity_help(subject, demand, tables),
            tables=tuple(tables),
            related=related(tables, f"has {IDENTITY_WORDS[kind]}"),
            cause=_NO_KEY if kind == "keyless" and "default" in demand.allow else "",
        )


_NO_KEY = "no primary key"
"""What a demand for an identity and one for a key have in common where a primary key satisfies both."""


def _identity_words(demand: ReplicaIdentity, kind: IdentityKind) -> str:
    words = IDENTITY_WORDS[kind]
    if demand.toastable:
        return f"{words}, and columns that can be stored out of line"
    return f"{words} and other unique indexes" if kind in demand.allow else words


def _other_keys(subject: Subject, relation: Relation, kind: IdentityKind) -> bool:
    """Return whether a table with an identity index has other unique indexes."""
    indexes = [subject.catalog.indexes[oid] for oid in subject.catalog.indexes_of.get(relation.oid)]
    return kind == "index" and sum(index.unique for index in indexes) > 1


def _toastable(subject: Subject, relation: Relation) -> bool:
    """Return whether a table has a column outside its identity whose values can be stored out of line."""
    known = replica_identity(subject.catalog, relation)
    inside = frozenset[int]() if known.full else known.columns
    cache = subject.context.session.syscache
    return any(_can_be_toasted(cache, column) for column in relation.live() if column.number not in inside)


def _can_be_toasted(cache: SysCache, column: Column) -> bool:
    try:
        return can_be_toasted(cache, column)
    except Unknowable:
        return False


def _identity_help(subject: Subject, demand: ReplicaIdentity, tables: list[Relation]) -> str:
    name = table_name(subject.context.session, tables[0])
    if not demand.allow:
        return f"leave {name} out, or store such values elsewhere"
    if "full" in demand.allow and ("default" not in demand.allow or not primary_key(subject.catalog, tables[0])):
        statement = f"ALTER TABLE {name} REPLICA IDENTITY FULL"
    else:
        statement = (
            f"ALTER TABLE {name} REPLICA IDENTITY {'DEFAULT' if 'default' in demand.allow else 'USING INDEX ...'}"
        )
    if statement.endswith("FULL"):
        statement += _without_lists(subject, tables[0])
    advice = statement
    if "default" in demand.allow and not primary_key(subject.catalog, tables[0]):
        advice = f"add a primary key to {name}" + (f", or {statement}" if "full" in demand.allow else "")
    return advice + (", and so on for each table" if len(tables) > 1 else "")


def _without_lists(subject: Subject, table: Relation) -> str:
    """Return what must come before REPLICA IDENTITY FULL: with a column list in any publication, the server then
    refuses UPDATE and DELETE (CheckCmdReplicaIdentity)."""
    publications = subject.catalog.publications
    listing = [
        publications[entry.publication]
        for entry in subject.context.entries
        if entry.relation == table.oid and entry.columns is not None
    ]
    names = [row.name for row in listing if row.update or row.delete]
    if not names:
        return ""
    lists = f"column list{'s' if len(names) > 1 else ''} of {listed(quoted(names))}"
    return f" after the {lists} for it {'are' if len(names) > 1 else 'is'} gone: with one, UPDATE and DELETE fail"


@evaluates("PUB908", Key)
def key(subject: Subject, demand: Key) -> Iterator[Violation]:
    """Tables without any of the keys that the consumer takes."""
    catalog = subject.catalog
    keyless, composite = [], []
    for relation in tables_on(subject, demand.on):
        if not relation.seen:
            continue
        if key_kinds(catalog, relation).isdisjoint(demand.accept):
            keyless.append(relation)
        elif demand.single and len(primary_key(catalog, relation)) > 1:
            composite.append(relation)
    accepted = listed([KEY_WORDS[kind] for kind in demand.accept], last="or")
    for tables, lack in ((keyless, f"without {accepted}"), (composite, "with a primary key of several columns")):
        if tables:
            names = listed(map(subject.context.name, tables), "table")
            name = table_name(subject.context.session, tables[0])
            ways = [leave_out(subject, tables[0])]
            if tables is keyless and "full" in demand.accept:
                ways.insert(0, f"ALTER TABLE {name} REPLICA IDENTITY FULL")
            if tables is keyless:
                ways.insert(0, f"ALTER TABLE {name} ADD PRIMARY KEY (...)")
            yield Violation(
                message=f"{subject.name} has {names} {lack}",
                help=listed(ways, last="or"),
                tables=tuple(tables),
                related=related(tables, lack),
                cause=_NO_KEY if tables is keyless and "primary key" in demand.accept else "",
            )


@evaluates("PUB911", GeneratedColumns)
def generated(subject: Subject, demand: GeneratedColumns) -> Iterator[Violation]:
    """Generated columns that the consumer cannot use, or that it wants published."""
    columns: list[tuple[Relation, str]] = []
    for change in subject.changes:
        relation = subject.catalog.relations[change.relation]
        of_key = primary_key(subject.catalog, relation)
        for column in relation.live():
            if not column.generated:
                continue
            unpublished = column.number not in change.columns and column.generated == "s"
            if demand.absent or (demand.outside_key and column.number in of_key) or (demand.published and unpublished):
                columns.append((relation, column.name))
    if not columns:
        return
    names = listed(f"{subject.context.name(relation)}.{name}" for relation, name in columns)
    tables = tuple({relation.oid: relation for relation, _ in columns}.values())
    place = "in a primary key" if demand.outside_key else "that it does not publish"
    yield Violation(
        message=f"{subject.name} has generated columns{'' if demand.absent else f' {place}'}: {names}",
        help=_generated_help(subject, demand),
        tables=tables,
        columns=tuple(name for _, name in columns),
        related=related(tables, "has a generated column"),
    )


def _generated_help(subject: Subject, demand: GeneratedColumns) -> str:
    name = identifier(subject.publication.name)
    if demand.published and subject.catalog.major.publish_generated_columns:
        return f"ALTER PUBLICATION {name} SET (publish_generated_columns = stored)"
    return "compute the column downstream, or fill an ordinary column by a trigger"


@evaluates("PUB912", Names)
def names(subject: Subject, demand: Names) -> Iterator[Violation]:
    """Names of tables and columns that the consumer cannot use."""
    for table in subject.names:
        for problem, columns in _name_problems(subject, table, demand):
            yield Violation(
                message=f"{subject.name} has {problem}",
                help=f"rename it, or {leave_out(subject, table)}",
                tables=(table,),
                columns=columns,
                related=related([table], "this table"),
            )
    if "tables" in demand.distinct:
        for group in _equal_ignoring_case({subject.context.session.qualified(row): row for row in subject.names}):
            yield Violation(
                message=f"{subject.name} has tables whose names differ by case only: "
                f"{listed(quoted(map(subject.context.name, group)))}",
                help="rename one of them",
                tables=tuple(group),
                related=related(group, "this table"),
            )


def _name_problems(subject: Subject, table: Relation, demand: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each problem with the names of a table, and the columns that it is about."""
    shown = subject.context.name(table)
    if demand.tables and not re.search(demand.tables, table.name):
        yield f'table "{shown}", whose name does not match {demand.tables}', ()
    columns = {column.name: column for column in table.live()}
    wrong = tuple(name for name in columns if demand.columns and not re.search(demand.columns, name))
    if wrong:
        yield f"columns of {shown} whose names do not match {demand.columns}: {listed(quoted(wrong))}", wrong
    reserved = tuple(name for name in columns if name in demand.reserved)
    if reserved:
        yield f"columns of {shown} with a reserved name: {listed(quoted(reserved))}", reserved
    if "columns" in demand.distinct:
        for group in _equal_ignoring_case(columns):
            pair = tuple(column.name for column in group)
            yield f"columns of {shown} whose names differ by case only: {listed(quoted(pair))}", pair


def _equal_ignoring_case(rows: dict[str, _Row]) -> Iterator[list[_Row]]:
    groups: dict[str, list[_Row]] = {}
    for name, row in rows.items():
        groups.setdefault(name.lower(), []).append(row)
    return (group for group in groups.values() if len(group) > 1)


@evaluates("PUB913", Types)
def types(subject: Subject, demand: Types) -> Iterator[Violation]:
    """Columns of types that the consumer does not read."""
    wrong: list[tuple[Relation, str, str]] = []
    for change in subject.changes:
        relation = subject.catalog.relations[change.relation]
        for number in change.columns:
            column = relation.columns[number - 1]
            name = _type_name(subject, column, demand)
            if name is not None and name not in demand.allow:
                wrong.append((relation, column.name, name))
    if wrong:
        tables = tuple({relation.oid: relation for relation, *_ in wrong}.values())
        shown = listed(f"{subject.context.name(relation)}.{column} ({name})" for relation, column, name in wrong)
        yield Violation(
            message=f"{subject.name} has columns of types that {subject.consumer} does not read: {shown}",
            help=f"convert them in the configuration of {subject.consumer}, or leave the table or the columns out",
            tables=tables,
            columns=tuple(column for _, column, _ in wrong),
            related=related(tables, "has such a column"),
        )


def _type_name(subject: Subject, column: Column, demand: Types) -> str | None:
    """Return the name of a column's type as pg_type has it, of an array its element's; None if it is unknown."""
    cache = subject.context.session.syscache
    try:
        oid, _ = cache.base_type(column.type, column.typmod)
        row = cache.type(oid)
        if row.element and row.subscript == "a":
            element = cache.type(row.element)
            return element.name if demand.arrays else row.name
    except Unknowable:
        return None
    return row.name


@evaluates("PUB915", Privileges)
def owners(subject: Subject, demand: Privileges) -> Iterator[Violation]:
    """Tables that another role owns than the publication."""
    catalog, publication = subject.catalog, subject.publication
    tables = [row for row in subject.names if row.seen and row.owner != publication.owner]
    if demand.same_owner and publication.seen and tables:
        owner = catalog.roles.get(publication.owner)
        yield Violation(
            message=f"{listed(map(subject.context.name, tables), 'table')} and {subject.name} have different owners",
            help=f"ALTER TABLE {table_name(subject.context.session, tables[0])} OWNER TO "
            f"{identifier(owner.name) if owner is not None else '...'}",
            tables=tuple(tables),
            related=related(tables, "has another owner"),
        )


@evaluates(EFFECTS, SetsIdentity)
def sets_identity(subject: Subject, demand: SetsIdentity) -> Iterator[Violation]:
    """Tables whose replica identity the consumer alters."""
    relations = subject.leaves
    if demand.everywhere:
        in_public = (subject.catalog.relations[oid] for oid in subject.catalog.relations_in.get(PUBLIC))
        relations = [row for row in in_public if row.kind == "r" and is_publishable(row)]
    kinds = [(relation, identity_kind(subject.catalog, relation)) for relation in relations]
    tables = [relation for relation, kind in kinds if kind in demand.of and kind != demand.to]
    if demand.to == "index":
        tables = [row for row in tables if "unique index" in key_kinds(subject.catalog, row)]
    if tables:
        yield Violation(
            message=f"{listed(map(subject.context.name, tables), 'table')} of "
            f"{'the schema public' if demand.everywhere else subject.name} will get {IDENTITY_WORDS[demand.to]}",
            help="set the same replica identity in the files",
            tables=tuple(tables),
            related=related(tables, "its replica identity is altered"),
        )
