"""Load a snapshot into the catalog of a session: the state that the statements that built the database leave.

A snapshot is written whole, and loading takes its names for granted. Of one that somebody may have changed, ``check``
finds the line of the first object that does not fit the others.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.loading import Loading, publications, relations, schemas
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import SyntaxRefused, TooDeep
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import MAJORS


def load(session: Session, snapshot: doc.Snapshot, source: int) -> None:
    """Load a snapshot into an empty catalog. ``source`` is its number among the unit's sources; the object on each line
    is the statement of that number."""
    # What is not in the catalogs of the server does not exist.
    session.complete = True
    load_all(Loading(session, snapshot, source))
    session.forget_path()
    session.catalog.journal.clear()
    session.begin_statement(source, 0)


def load_all(loading: Loading) -> None:
    """Load all objects and the settings of the connection."""
    with _without_collections():
        _load(loading)


def _load(loading: Loading) -> None:
    """Load all objects, group by group, and in each by oid: so a server goes through its catalogs."""
    catalog, server = loading.catalog, loading.snapshot.server
    catalog.database, catalog.database_known = server.database, True
    schemas.forget_public(loading)
    schemas.collations_of_machine(loading)
    groups: list[list[tuple[int, records.AnyObject]]] = [[] for _ in _GROUPS]
    group_of = {kind: groups[place] for place, loaders in enumerate(_GROUPS) for kind in loaders}
    for number, row in enumerate(loading.snapshot.objects):
        if type(row) in group_of:  # all but those of a running server
            group_of[type(row)].append((number, row))
    for group, loaders in zip(groups, _GROUPS, strict=True):
        for number, row in sorted(group, key=lambda numbered: numbered[1].oid):
            loading.number = number
            loaders[type(row)](loading, row)
    catalog.databases[server.database] = loading.refs.role(server.database_owner)
    for role in server.creators:
        catalog.database_acl.put((loading.refs.role(role) if role else 0, "C"), True)
    relations.read_bounds(loading)
    relations.depend_on_owners(loading)
    relations.show_views(loading)
    # Expressions are written for fixed settings, and bodies for those of the connection.
    schemas.start_connection(loading)
    schemas.read_definitions(loading)
    publications.follow_triggers(loading)


_Loader = Callable[[Loading, Any], None]
_GROUPS: tuple[dict[type, _Loader], ...] = (
    {records.Schema: schemas.schema, records.Role: schemas.role, records.DefaultSetting: schemas.default_setting},
    {records.Extension: publications.extension},
    {records.Type: schemas.type},
    {records.Function: schemas.function},
    {
        records.Operator: schemas.operator,
        records.Cast: schemas.cast,
        records.Collation: schemas.collation,
        records.OperatorClass: schemas.operator_class,
    },
    dict.fromkeys(relations.RELKINDS, relations.relation),
    {records.Index: relations.index},
    {records.Constraint: relations.constraint},
    {records.Trigger: publications.trigger, records.Rule: publications.rule, records.Policy: publications.policy},
    {records.Publication: publications.publication},
    {
        records.PublicationTable: publications.publication_table,
        records.PublicationExclusion: publications.publication_exclusion,
        records.PublicationSchema: publications.publication_schema,
    },
    {records.Subscription: publications.subscription, records.EventTrigger: publications.event_trigger},
)
"""The kinds of objects with their loaders, each group after those that its objects need."""


@contextmanager
def _without_collections() -> Iterator[None]:
    """Create a hundred thousand rows without looking for garbage among them after each few hundred."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


_CATALOG = dict.fromkeys(
    (records.Table, records.ForeignTable, records.View, records.MaterializedView, records.Sequence), "pg_class"
) | {
    records.CompositeType: "pg_class",
    records.Index: "pg_class",
}
"""The system catalogs that hold objects of several kinds: neither oids nor names repeat in one."""


_LONGEST = 200
"""Characters of a name in a message."""


def check(snapshot: doc.Snapshot) -> None:
    """Raise BadSnapshot for the first object of a snapshot that does not fit the others."""
    if snapshot.server.postgres not in MAJORS:
        raise doc.BadSnapshot(
            f"this is a snapshot of PostgreSQL {snapshot.server.postgres}; pubcheck reads {MAJORS[0]} to {MAJORS[-1]}"
        )
    if snapshot.facts is not None:
        raise doc.BadSnapshot("it has the facts of a running server, which no snapshot in a file has")
    _check_identities(snapshot.objects)
    _check_composite_types(snapshot.objects)
    _check_ancestors(snapshot.objects)
    loading = None
    try:
        loading = Loading(Session(Catalog(snapshot.server.postgres), complete=True), snapshot, 0, checked=True)
        load_all(loading)
    except Exception as error:  # whatever a changed object breaks
        raise _problem(snapshot.objects, loading.number if loading is not None else 0, _reason(error)) from error


def _short(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())[:_LONGEST]


def _problem(objects: tuple[records.AnyObject, ...], number: int, reason: str) -> doc.BadSnapshot:
    address = f"{_short(objects[number].address)}: " if objects else ""
    return doc.BadSnapshot(
        f"line {doc.FIRST_OBJECT + 1 + number}: {address}{reason}; take the snapshot again with `pubcheck snapshot`"
    )


def _reason(error: Exception) -> str:
    if isinstance(error, records.DanglingName):
        return _short(str(error))
    if isinstance(error, KeyError):
        name = error.args[0] if error.args else ""
        return f"there is no {_short(name)} in the snapshot" if isinstance(name, str) else "an object is missing"
    if isinstance(error, SyntaxRefused | ServerError | TooDeep | Unknowable | RecursionError):
        return f"its definition cannot be read: {_short(str(error)) or type(error).__name__}"
    return "it does not fit the other objects"


def _check_identities(objects: tuple[records.AnyObject, ...]) -> None:
    names, oids = set[tuple[object, ...]](), set[tuple[object, int]]()
    for number, row in enumerate(objects):
        catalog = _CATALOG.get(type(row), type(row))
        name = (catalog, *row.key)
        if name in names and not isinstance(row, records.OperatorClass):  # of several methods
            raise _problem(objects, number, "this name is there twice")
        names.add(name)
        for oid in _oids(row):
            if not oid:
                raise _problem(objects, number, "it has no oid")
            if (catalog, oid) in oids:
                raise _problem(objects, number, f"the oid {oid} is there twice")
            oids.add((catalog, oid))


def _oids(row: records.AnyObject) -> Iterator[int]:
    if not isinstance(row, records.DefaultSetting | records.Setting | records.Slot):
        yield row.oid
    if isinstance(row, records.Type) and row.array_oid:
        yield row.array_oid


def _check_composite_types(objects: tuple[records.AnyObject, ...]) -> None:
    """Raise BadSnapshot for a composite type that is not there twice: as a type, and with its attributes."""
    types = {row.key for row in objects if isinstance(row, records.Type) and row.type == "c"}
    attributes = {row.key for row in objects if isinstance(row, records.CompositeType)}
    for number, row in enumerate(objects):
        if isinstance(row, records.Type) and row.key in types - attributes:
            raise _problem(objects, number, "its attributes are missing")
        if isinstance(row, records.CompositeType) and row.key in attributes - types:
            raise _problem(objects, number, "its type is missing")


def _check_ancestors(objects: tuple[records.AnyObject, ...]) -> None:
    """Raise BadSnapshot for a table that inherits from itself, or a type that is based on itself."""
    above: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    for number, row in enumerate(objects):
        if isinstance(row, records.Relation):
            name, parents = records.reference(row.schema, row.name), row.parents
        elif isinstance(row, records.Type):
            # A range and its multirange name each other.
            name = f"type {records.reference(row.schema, row.name)}"
            parents = tuple(f"type {base}" for base in (row.base if row.type == "d" else "", row.element) if base)
        else:
            continue
        above[name], numbers[name] = parents, number
    for name in _in_circles(above):
        raise _problem(objects, numbers[name], "it is among its own ancestors")


def _in_circles(above: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield names that lead back to themselves."""
    finished: set[str] = set()
    for start in above:
        path = [(start, iter(above[start]))]
        open_names = {start}
        while path and start not in finished:
            name, rest = path[-1]
            following = next(rest, None)
            if following is None:
                finished.add(name)
                open_names.discard(name)
                path.pop()
            elif following in open_names:
                yield following
                return
            elif following in above and following not in finished:
                path.append((following, iter(above[following])))
                open_names.add(following)
